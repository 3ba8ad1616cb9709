package testprovider_test

import (
	"encoding/json"
	"io"
	"net/http"
	"strings"
	"testing"
)

// Whatever the body: an answer of JSON, or a stream whose end is not missing.
func FuzzRequest(f *testing.F) {
	f.Add("/chat/completions", chatWith(`"n":2,"stop":["a"],"stream":true,"tools":[{"type":"function","name":"a"}]`))
	f.Add("/embeddings", `{"model":"echo","input":["a",[1]]}`)
	f.Fuzz(func(t *testing.T, path, body string) {
		if strings.Contains(body, "slow") || strings.Contains(body, "fail") {
			t.Skip()
		}
		req, err := http.NewRequest(http.MethodPost, base, strings.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		req.URL.Path = path
		resp, err := newTransport().RoundTrip(req)
		if err != nil {
			t.Fatal(err)
		}
		answer, err := io.ReadAll(resp.Body)
		if err != nil {
			t.Fatal(err)
		}
		stream := strings.HasPrefix(resp.Header.Get("Content-Type"), "text/event-stream")
		if !stream && !json.Valid(answer) || stream && !strings.HasSuffix(string(answer), "\n\n") {
			t.Errorf("%s", answer)
		}
	})
}
