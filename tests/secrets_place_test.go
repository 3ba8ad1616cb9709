package tests

import (
	"net/http"
	"strings"
	"testing"
)

// To put the key into another setting of an SDK is a common slip.
func TestAKeyInTheWrongSettingIsNotKept(t *testing.T) {
	hashed := "key hashed {\nhash sha256:" + sha256Hex(secretOf("hashed")) + "\nscopes chat:write models:read workstations:connect workstations:manage\n}\n"
	h := start(t, setup{keys: defaultKeys + hashed, vnc: "workstation desk1 127.0.0.1:5901", site: "handle /metrics {\nmetrics\n}\ngatehouse"})
	unknown := "gh-" + strings.Repeat("Ab3_-", 9)[:43]
	for _, secret := range []string{secretOf("full"), secretOf("other"), secretOf("hashed"), providerKey, unknown} {
		for _, path := range []string{chatV1, chatRouter, responsesV1} {
			for _, model := range []string{secret, "fake/" + secret, "none/" + secret, secret + "/x", strings.Repeat(secret+" ", 10)} {
				h.post(path, "hashed", bodyFor(path, model, `,"user":"`+secret+`","session_id":"`+secret+`","metadata":{"key":"`+secret+`"}`))
			}
			for _, header := range []string{"X-Request-Id", "X-Client-Request-Id", "HTTP-Referer", "X-Title", "User-Agent", "Idempotency-Key"} {
				r := h.request(path, "hashed", bodyFor(path, "fake/echo", ""))
				r.Header.Set(header, secret)
				if a := h.send(r); a.status != http.StatusOK {
					t.Errorf("%s %s: %d %s", path, header, a.status, a.body)
				}
			}
		}
		for _, path := range []string{"/v1/models/", "/v1/workstations/", "/v1/", "/v1/models?after=", "/api/v1/generation?id=", "/api/v1/activity?model="} {
			h.get(path+secret, "hashed")
		}
		h.post("/v1/workstations/"+secret+"/vnc", "hashed", "{}")
	}
	if a := h.post(chatV1, "hashed", chat("fake/"+secretOf("full"), "")); a.status != http.StatusNotFound || strings.Contains(string(a.body), secretOf("full")) {
		t.Errorf("a key as the model: %d %s", a.status, a.body)
	}
	seen := map[string]string{
		"the activity": string(h.get("/api/v1/activity?limit=1000", "activity").body),
		"the metrics":  string(h.get("/metrics", "").body),
	}
	if !strings.Contains(seen["the activity"], `"model":"[redacted]"`) {
		t.Errorf("the activity has no redacted model: %.300s", seen["the activity"])
	}
	for _, up := range h.upstream.Requests() {
		if strings.Contains(string(up.Body), `"model":"`+secretOf("full")) {
			t.Errorf("the provider was sent %s", up.Body)
		}
	}
	h.stop()
	seen["the log"] = logs.text()
	seen["the files"] = h.files()
	for where, text := range seen {
		for _, secret := range []string{secretOf("full"), secretOf("other"), secretOf("hashed"), providerKey, unknown} {
			if i := strings.Index(text, secret); i >= 0 {
				t.Errorf("%s holds %s: …%s…", where, secret, text[max(0, i-200):min(len(text), i+100)])
			}
		}
	}
}
