package tests

import (
	"fmt"
	"io"
	"net"
	"strings"
	"testing"

	"net/http"
)

// Fallback models would escape the key's list and the price; a preset of the
// account can replace prompt and model.
func TestAResponsesCallCannotNameOtherModelsBesideItsOwn(t *testing.T) {
	h := start(t, setup{})
	for _, path := range []string{responsesV1, responsesOR, chatV1, chatRouter} {
		h.upstream.Reset()
		content := `"input":"x"`
		if path == chatV1 || path == chatRouter {
			content = `"messages":[{"role":"user","content":"x"}]`
		}
		a := h.post(path, "full", `{"model":"router/echo",`+content+`,"models":["openai/other"],"route":"fallback"}`)
		if a.status != 200 {
			t.Fatalf("%s: %d %s", path, a.status, a.body)
		}
		for _, r := range h.upstream.Requests() {
			if strings.Contains(string(r.Body), "models") || strings.Contains(string(r.Body), "route") {
				t.Errorf("%s: the provider got %s", path, r.Body)
			}
		}
		a = h.post(path, "full", `{"model":"router/echo",`+content+`,"preset":"admin"}`)
		wantRefusal(t, path, a, 400, "unsupported_parameter")
	}
	h.upstream.Reset()
	h.post(responsesV1, "full", `{"model":"fake/echo","input":"x","reasoning":{"effort":"low"},"plugins":[]}`)
	sent := h.upstream.Requests()
	if len(sent) != 1 || string(sent[0].Body) != `{"model":"echo","input":"x","reasoning":{"effort":"low"}}` {
		t.Errorf("another provider got %+v", sent)
	}
}

// A client that only stopped sending still reads; it must not read a success.
func TestAHalfClosedClientIsNotToldOfSuccess(t *testing.T) {
	h := start(t, setup{})
	conn, reader := h.dial()
	if _, err := io.WriteString(conn, head(chatV1, "full", "Content-Length: 500")+`{"model":`); err != nil {
		t.Fatal(err)
	}
	if err := conn.(*net.TCPConn).CloseWrite(); err != nil {
		t.Fatal(err)
	}
	resp, err := http.ReadResponse(reader, nil)
	if err == nil {
		defer func() { _ = resp.Body.Close() }()
		if resp.StatusCode < 400 {
			t.Errorf("half a request was answered %s", resp.Status)
		}
	}
}

func TestAGuardedBackendNeverSeesTheKeyOrAnUnauthenticatedBody(t *testing.T) {
	type seen struct{ method, auth, override, body string }
	var got []seen
	backend := http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		got = append(got, seen{r.Method, r.Header.Get("Authorization"), r.Header.Get("X-HTTP-Method-Override"), string(body)})
	})}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	go func() { _ = backend.Serve(listener) }()
	t.Cleanup(func() { _ = backend.Close() })
	h := start(t, setup{site: fmt.Sprintf("gatehouse_auth models:read\nreverse_proxy %s", listener.Addr())})

	if a := h.get("/private", "full"); a.status != 200 {
		t.Fatalf("with a key: %d %s", a.status, a.body)
	}
	preflight := func(body string) answer {
		r := h.request(h.origin+"/private", "", body)
		r.Method = http.MethodOptions
		r.Header.Set("Origin", "https://app.example")
		r.Header.Set("Access-Control-Request-Method", "POST")
		r.Header.Set("X-HTTP-Method-Override", "DELETE")
		return h.send(r)
	}
	if a := preflight(""); a.status != 200 {
		t.Errorf("a preflight: %d", a.status)
	}
	if a := preflight("drop everything"); a.status != 401 {
		t.Errorf("a preflight with a body: %d", a.status)
	}
	want := []seen{{method: "GET"}, {method: "OPTIONS"}}
	if fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("the backend saw %+v, want %+v", got, want)
	}
}
