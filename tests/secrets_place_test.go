package tests

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
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
	if a := h.post(chatV1, "hashed", chat("fake/"+secretOf("hashed"), "")); a.status != http.StatusNotFound || strings.Contains(string(a.body), secretOf("hashed")) {
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
		if strings.Contains(string(up.Body), `"model":"`+secretOf("hashed")) {
			t.Errorf("the provider was sent %s", up.Body)
		}
	}
	h.stop()
	seen["the log"] = logs.text()
	seen["the files"] = h.files()
	for where, text := range seen {
		for _, secret := range []string{secretOf("hashed"), unknown, secretOf("full"), secretOf("other"), providerKey} {
			if kept := where == "the activity" || where == "the files"; kept && secret != secretOf("hashed") && secret != unknown {
				continue // it would tell the caller that it has guessed a secret
			}
			if i := strings.Index(text, secret); i >= 0 {
				t.Errorf("%s holds %s: …%s…", where, secret, text[max(0, i-200):min(len(text), i+100)])
			}
		}
	}
}

// What differs for a right guess of a secret is an oracle for whoever has any key.
func TestNobodyLearnsWhetherAGuessIsASecret(t *testing.T) {
	const password, disabled = "vnc-guess-7f3a90c1", "gone-guess-7f3a90c"
	keys := defaultKeys + "key hashed {\nhash sha256:" + sha256Hex(secretOf("hashed")) + "\nscopes chat:write\n}\n" +
		"key gone {\nsecret " + disabled + "\ndisabled\nscopes chat:write\n}\n"
	h := start(t, setup{
		keys: keys, providers: defaultProviders + "provider echo {\nbase_url " + echoingBody(t).URL + "/v1\napi_key " + secretOf("own") + "\nmodels m\n}",
		vnc: "workstation desk1 127.0.0.1:5901 {\npassword " + password + "\n}",
	})
	for what, secret := range map[string]string{
		"another key": secretOf("other"), "a key with a hash": secretOf("hashed"), "a disabled key": disabled, "a VNC password": password, "another provider's key": providerKey,
	} {
		seen := make(map[string]string)
		for _, guess := range []string{secret, secret[:len(secret)-4] + "d0f1"} {
			var all strings.Builder
			for _, path := range []string{chatV1, chatRouter, responsesV1} {
				for _, model := range []string{guess, "none/" + guess, "echo/m"} {
					r := h.request(path, "full", strings.Replace(bodyFor(path, model, ""), "say hello", guess, 1))
					r.Header.Set("X-Client-Request-Id", guess)
					a := h.send(r)
					id := a.header.Get("X-Request-Id")
					row := h.row(id)
					fmt.Fprintln(&all, path, a.status, strings.ReplaceAll(string(a.body), id, "ID"), at(row, "model"), at(row, "code"), strings.Contains(string(h.get("/api/v1/generation?id="+id, "full").body), guess))
				}
			}
			seen[strings.ReplaceAll(all.String(), guess, "GUESS")] = guess
		}
		if len(seen) != 1 {
			t.Errorf("%s is answered otherwise than a wrong guess: %v", what, seen)
		}
	}
}

// echoingBody is a provider that refuses every call and repeats its prompt.
func echoingBody(t *testing.T) *httptest.Server {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(http.StatusBadRequest)
		_ = json.NewEncoder(w).Encode(map[string]any{"error": map[string]any{"message": string(body)}})
	}))
	t.Cleanup(server.Close)
	return server
}
