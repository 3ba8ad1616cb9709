package api

import (
	"fmt"
	"io"
	"net"
	"net/http"
	"testing"

	"github.com/gatehouse-proxy/gatehouse/tests/harness"
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
	h := harness.Start(t, harness.Setup{Site: fmt.Sprintf("gatehouse_auth models:read\nreverse_proxy %s", listener.Addr())})

	if a := h.Client.Get("/private", "full"); a.Status != 200 {
		t.Fatalf("with a key: %d %s", a.Status, a.Body)
	}
	preflight := func(body string) harness.Answer {
		r := h.Client.Request(h.Client.Origin+"/private", "", body)
		r.Method = http.MethodOptions
		r.Header.Set("Origin", "https://app.example")
		r.Header.Set("Access-Control-Request-Method", "POST")
		r.Header.Set("X-HTTP-Method-Override", "DELETE")
		return h.Client.Send(r)
	}
	if a := preflight(""); a.Status != 200 {
		t.Errorf("a preflight: %d", a.Status)
	}
	if a := preflight("drop everything"); a.Status != 401 {
		t.Errorf("a preflight with a body: %d", a.Status)
	}
	want := []seen{{method: "GET"}, {method: "OPTIONS"}}
	if fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("the backend saw %+v, want %+v", got, want)
	}
}
