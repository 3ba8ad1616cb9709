package handlers

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/gatehouse-proxy/gatehouse/internal/api"
	"github.com/gatehouse-proxy/gatehouse/internal/gateway"
	"github.com/gatehouse-proxy/gatehouse/internal/keys"
	"github.com/gatehouse-proxy/gatehouse/internal/modelcall"
	"github.com/gatehouse-proxy/gatehouse/internal/runtimekeys"
)

// lostAnswer is a connection that breaks: at the write of an answer, or when it is sent.
type lostAnswer struct {
	*httptest.ResponseRecorder
	write, flush error
}

func (w *lostAnswer) Write(p []byte) (int, error) {
	if w.write != nil {
		return 0, w.write
	}
	return w.ResponseRecorder.Write(p)
}

func (w *lostAnswer) FlushError() error { return w.flush }

func TestAKeyWhoseAnswerIsLostIsDeletedAgain(t *testing.T) {
	g := startGateway(t, setup{made: &runtimekeys.Block{Scopes: keys.ChatWrite, Max: 10, Shared: new(modelcall.Limits)}})
	gone := errors.New("connection reset by peer")
	left := func(r *http.Request) *http.Request {
		ctx, cancel := context.WithCancel(r.Context())
		cancel()
		return r.WithContext(ctx)
	}
	stays := func(r *http.Request) *http.Request { return r }
	for name, c := range map[string]struct {
		w       lostAnswer
		request func(*http.Request) *http.Request
		kept    int
	}{
		"before the answer": {lostAnswer{}, left, 0},
		"in the answer":     {lostAnswer{write: gone}, stays, 0},
		"after the answer":  {lostAnswer{flush: gone}, stays, 0},
		"not at all":        {lostAnswer{}, stays, 1},
	} {
		c.w.ResponseRecorder = httptest.NewRecorder()
		r := httptest.NewRequestWithContext(t.Context(), "POST", "/api/v1/keys", strings.NewReader(`{"name":"lost"}`))
		r.Header.Set("Authorization", "Bearer "+secretOf("keys"))
		m := matchPath("/api/v1/keys")
		m.api = api.OpenRouter{}
		must(t, serve(g, &c.w, c.request(r), m))
		made := g.RuntimeKeys().List(keys.EveryTenant(""), runtimekeys.Query{})
		if len(made) != c.kept {
			t.Errorf("%s: %d keys are left", name, len(made))
		}
		for _, key := range made {
			must(t, g.RuntimeKeys().Delete(t.Context(), gateway.Manager{Tenants: keys.EveryTenant("")}, key.Hash()))
		}
	}
}

func TestKeysWithoutABlockAreRefusedClearly(t *testing.T) {
	g := startGateway(t, setup{})
	for _, c := range [][2]string{{"GET", "/api/v1/keys"}, {"POST", "/api/v1/keys"}, {"GET", "/api/v1/keys/0"}, {"PATCH", "/api/v1/keys/0"}, {"DELETE", "/api/v1/keys/0"}, {"POST", "/api/v1/keys/0/rotate"}} {
		call(t, g, c[0], c[1], "keys", "").want(t, 404, "not_found", "this gateway makes no keys at run time")
		if a := call(t, g, c[0], c[1], "full", ""); a.Code != 403 {
			t.Errorf("%s: %d without the scope", c, a.Code)
		}
	}
}

func TestAMemberThatIsNotKnownIsRefusedByName(t *testing.T) {
	g := startGateway(t, setup{made: &runtimekeys.Block{Scopes: keys.ChatWrite, Max: 10, Shared: new(modelcall.Limits)}})
	for _, c := range []struct{ method, path, body, param string }{
		{"POST", "/api/v1/keys", `{"name":"a","title":"b"}`, "title"}, {"POST", "/api/v1/keys", `{"name":"a","disabled":true}`, "disabled"},
		{"POST", "/api/v1/keys", `{}`, "name"}, {"GET", "/api/v1/keys?page=2", "", "page"}, {"GET", "/api/v1/keys?offset=-1", "", "offset"},
		{"GET", "/api/v1/keys?include_disabled=yes", "", "include_disabled"}, {"POST", "/api/v1/keys/0/rotate", `{"grace":"soon"}`, "grace"},
	} {
		a := call(t, g, c.method, c.path, "keys", c.body)
		if a.Code != 400 || !strings.Contains(a.Body.String(), `"param":"`+c.param+`"`) {
			t.Errorf("%s %s %s: %d %s", c.method, c.path, c.body, a.Code, a.Body)
		}
	}
}
