package tests

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/gatehouse-proxy/gatehouse/internal/testprovider/faults"
)

// canaries are texts that must not leak, by their kind.
var canaries = map[string]string{
	"the client's key":     secretOf("full"),
	"a key with a hash":    secretOf("hashed"),
	"a key that is wrong":  secretOf("nobody"),
	"the provider's key":   providerKey,
	"the provider's words": faults.SecretText,
	"the client's cookie":  "cookie-canary-31d9f0",
	"the prompt":           "prompt-canary-77ab02",
	"a tool's argument":    "argument-canary-90cc4e",
	"the provider's org":   "org-fake-leak",
}

const clientAddress = "198.51.100.77"

func TestSecretsStayWhereTheyAre(t *testing.T) {
	hashed := "key hashed {\nhash sha256:" + sha256Hex(secretOf("hashed")) + "\nscopes chat:write\n}\n"
	h := start(t, setup{keys: defaultKeys + hashed})
	var answers bytes.Buffer
	for _, path := range []string{chatV1, chatRouter, responsesV1, responsesOR} {
		for _, model := range []string{
			"fake/leaky-headers", "fake/err-400", "fake/err-401", "fake/err-429", "fake/err-500", "fake/html-502", "fake/error-200",
			"fake/err-mid-stream", "fake/response-failed", "fake/err-first-event", "fake/malformed", "fake/no-answer", "fake/redirect-307", "none/model", "test/echo",
		} {
			for _, key := range []string{"full", "hashed", "nobody"} {
				for _, more := range []string{"", streaming} {
					body := bodyFor(path, model, more+`,"metadata":{"a":"`+canaries["a tool's argument"]+`"}`)
					if model != "test/echo" { // returns the prompt
						body = strings.Replace(body, "say hello", canaries["the prompt"], 1)
					}
					r := h.request(path, key, body)
					r.Header.Set("Cookie", "session="+canaries["the client's cookie"])
					r.Header.Set("X-Forwarded-For", clientAddress)
					r.Header.Set("X-Real-Ip", clientAddress)
					a := h.send(r)
					if a.status == 200 && !strings.Contains(model, "err") {
						a.body = bytes.ReplaceAll(a.body, []byte(canaries["the prompt"]), nil) // its own client may read it
						a.body = bytes.ReplaceAll(a.body, []byte(canaries["a tool's argument"]), nil)
					}
					_ = a.header.Write(&answers)
					answers.Write(a.body)
				}
			}
		}
	}
	seen := map[string]string{"the activity": string(h.get("/api/v1/activity?limit=1000", "activity").body)}
	seen["the metrics"] = string(h.get("/metrics", "").body)
	if !strings.Contains(seen["the metrics"], "gatehouse_") || len(seen["the activity"]) < 10_000 {
		t.Errorf("nothing to look at: %d bytes of metrics, %d of activity", len(seen["the metrics"]), len(seen["the activity"]))
	}
	var headers, bodies strings.Builder
	for _, up := range h.upstream.Requests() {
		for _, header := range up.Headers {
			if header[0] == "Authorization" {
				if header[1] != "Bearer "+providerKey {
					t.Errorf("the provider was given Authorization %q", header[1])
				}
				continue
			}
			headers.WriteString(header[0] + ": " + header[1] + "\n")
		}
		bodies.Write(up.Body)
	}
	seen["the headers to the provider"] = headers.String()
	h.stop()
	seen["the log"] = logs.text()
	seen["the files"] = h.files()

	for where, text := range seen {
		for what, canary := range canaries {
			if i := strings.Index(text, canary); i >= 0 {
				t.Errorf("%s holds %s: …%s…", where, what, text[max(0, i-200):min(len(text), i+60)])
			}
		}
	}
	for what, canary := range canaries {
		if i := strings.Index(answers.String(), canary); i >= 0 && what != "the prompt" && what != "a tool's argument" {
			t.Errorf("an answer holds %s: …%s…", what, answers.String()[max(0, i-200):i+40])
		}
		if strings.Contains(bodies.String(), canary) && what != "the prompt" && what != "a tool's argument" {
			t.Errorf("a body to the provider holds %s", what)
		}
	}
	for where, text := range map[string]string{"the activity": seen["the activity"], "the headers to the provider": seen["the headers to the provider"], "the files": seen["the files"]} {
		if strings.Contains(text, clientAddress) {
			t.Errorf("%s: the client's address", where)
		}
	}
}

// files is everything in the data directory.
func (h *harness) files() string {
	h.t.Helper()
	var all bytes.Buffer
	err := filepath.WalkDir(filepath.Join(h.dir, "data"), func(path string, d os.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		if info, err := d.Info(); err != nil || info.Mode().Perm()&0o077 != 0 {
			h.t.Errorf("%s can be read by others: %v %v", d.Name(), info.Mode(), err)
		}
		text, err := os.ReadFile(path)
		all.Write(text)
		return err
	})
	if err != nil || all.Len() == 0 {
		h.t.Errorf("the data directory: %d bytes, %v", all.Len(), err)
	}
	return all.String()
}

func TestEveryCallLeavesOneLogLine(t *testing.T) {
	h := start(t, setup{})
	for _, model := range []string{"fake/echo", "fake/err-500", "none/x"} {
		for _, more := range []string{"", streaming} {
			r := h.request(chatV1, "full", chat(model, more))
			r.Header.Set("X-Client-Request-Id", "client-id-1")
			a := h.send(r)
			id := a.header.Get("X-Request-Id")
			var ours []string
			for _, line := range h.logLines(id) {
				if strings.Contains(line, `"msg":"call"`) {
					ours = append(ours, line)
				}
			}
			if len(ours) != 1 {
				t.Fatalf("%s%s: %d lines: %v", model, more, len(ours), ours)
			}
			line := parse(t, []byte(ours[0]))
			row := h.row(id)
			for field, want := range map[string]any{
				"key": "full", "tenant": "default", "route": "POST /v1/chat/completions", "model": model, "client_request_id": "client-id-1",
				"status": at(row, "status"), "stream": more != "", "generation_id": at(row, "id"), "tokens_out": at(row, "completion_tokens"),
			} {
				if got := at(line, field); got != want {
					t.Errorf("%s%s: %s is %v, want %v", model, more, field, got, want)
				}
			}
		}
	}
}
