package operator

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/gatehouse-proxy/gatehouse/internal/testkit/jsontest"
	"github.com/gatehouse-proxy/gatehouse/tests/harness"
)

// To put the key into another setting of an SDK is a common slip.
func TestAKeyInTheWrongSettingIsNotKept(t *testing.T) {
	hashed := "key hashed {\nhash sha256:" + harness.SHA256(harness.Secret("hashed")) + "\nscopes chat:write models:read workstations:connect workstations:manage\n}\n"
	h := harness.Start(t, harness.Setup{Keys: harness.DefaultKeys + hashed, VNC: "workstation desk1 127.0.0.1:5901", Site: "handle /metrics {\nmetrics\n}\ngatehouse"})
	unknown := "gh-" + strings.Repeat("Ab3_-", 9)[:43]
	for _, secret := range []string{harness.Secret("full"), harness.Secret("other"), harness.Secret("hashed"), harness.ProviderKey, unknown} {
		for _, path := range []string{harness.ChatV1, harness.ChatRouter, harness.ResponsesV1} {
			for _, model := range []string{secret, "fake/" + secret, "none/" + secret, secret + "/x", strings.Repeat(secret+" ", 10)} {
				h.Client.Post(path, "hashed", harness.Body(path, model, `,"user":"`+secret+`","session_id":"`+secret+`","metadata":{"key":"`+secret+`"}`))
			}
			for _, header := range []string{"X-Request-Id", "X-Client-Request-Id", "HTTP-Referer", "X-Title", "User-Agent", "Idempotency-Key"} {
				r := h.Client.Request(path, "hashed", harness.Body(path, "fake/echo", ""))
				r.Header.Set(header, secret)
				if a := h.Client.Send(r); a.Status != http.StatusOK {
					t.Errorf("%s %s: %d %s", path, header, a.Status, a.Body)
				}
			}
		}
		for _, path := range []string{"/v1/models/", "/v1/workstations/", "/v1/", "/v1/models?after=", "/api/v1/generation?id=", "/api/v1/activity?model="} {
			h.Client.Get(path+secret, "hashed")
		}
		h.Client.Post("/v1/workstations/"+secret+"/vnc", "hashed", "{}")
	}
	if a := h.Client.Post(harness.ChatV1, "hashed", harness.Chat("fake/"+harness.Secret("hashed"), "")); a.Status != http.StatusNotFound || strings.Contains(string(a.Body), harness.Secret("hashed")) {
		t.Errorf("a key as the model: %d %s", a.Status, a.Body)
	}
	seen := map[string]string{
		"the activity": string(h.Client.Get("/api/v1/activity?limit=1000", "activity").Body),
		"the metrics":  string(h.Client.Get("/metrics", "").Body),
	}
	if !jsontest.Has(t, seen["the activity"], `{"model":"[redacted]"}`) {
		t.Errorf("the activity has no redacted model: %.300s", seen["the activity"])
	}
	for _, up := range h.Provider.Fake.Requests() {
		if strings.HasPrefix(jsontest.String(t, up.Body, "model"), harness.Secret("hashed")) {
			t.Errorf("the provider was sent %s", up.Body)
		}
	}
	h.Stop()
	seen["the log"] = harness.Log.Text()
	seen["the files"] = harness.DataFiles(h)
	for where, text := range seen {
		for _, secret := range []string{harness.Secret("hashed"), unknown, harness.Secret("full"), harness.Secret("other"), harness.ProviderKey} {
			if kept := where == "the activity" || where == "the files"; kept && secret != harness.Secret("hashed") && secret != unknown {
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
	keys := harness.DefaultKeys + "key hashed {\nhash sha256:" + harness.SHA256(harness.Secret("hashed")) + "\nscopes chat:write\n}\n" +
		"key gone {\nsecret " + disabled + "\ndisabled\nscopes chat:write\n}\n"
	h := harness.Start(t, harness.Setup{
		Keys: keys, Providers: harness.DefaultProviders + "provider echo {\nbase_url " + echoingBody(t).URL + "/v1\napi_key " + harness.Secret("own") + "\nmodels m\n}",
		VNC: "workstation desk1 127.0.0.1:5901 {\npassword " + password + "\n}",
	})
	for what, secret := range map[string]string{
		"another key": harness.Secret("other"), "a key with a hash": harness.Secret("hashed"), "a disabled key": disabled, "a VNC password": password, "another provider's key": harness.ProviderKey,
	} {
		seen := make(map[string]string)
		for _, guess := range []string{secret, secret[:len(secret)-4] + "d0f1"} {
			var all strings.Builder
			for _, path := range []string{harness.ChatV1, harness.ChatRouter, harness.ResponsesV1} {
				for _, model := range []string{guess, "none/" + guess, "echo/m"} {
					r := h.Client.Request(path, "full", strings.Replace(harness.Body(path, model, ""), "say hello", guess, 1))
					r.Header.Set("X-Client-Request-Id", guess)
					a := h.Client.Send(r)
					id := a.Header.Get("X-Request-Id")
					row := h.Records.Row(id)
					fmt.Fprintln(&all, path, a.Status, strings.ReplaceAll(string(a.Body), id, "ID"), harness.At(row, "model"), harness.At(row, "code"), strings.Contains(string(h.Client.Get("/api/v1/generation?id="+id, "full").Body), guess))
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
