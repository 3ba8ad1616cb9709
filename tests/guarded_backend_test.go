package tests

import (
	"fmt"
	"io"
	"net"
	"net/http"
	"testing"
)

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
