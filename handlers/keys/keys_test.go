package keys

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	makekeys "github.com/gatehouse-proxy/gatehouse/internal/features/runtimekeys"
	"github.com/gatehouse-proxy/gatehouse/internal/gateway"
	"github.com/gatehouse-proxy/gatehouse/internal/keys"
	"github.com/gatehouse-proxy/gatehouse/internal/limits"
	"github.com/gatehouse-proxy/gatehouse/internal/policy"
	"github.com/gatehouse-proxy/gatehouse/internal/runtimekeys"
	"github.com/gatehouse-proxy/gatehouse/internal/testkit/handlerstest"
	"github.com/gatehouse-proxy/gatehouse/internal/testkit/jsontest"
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

// making lets keys be made as the block says.
func making(b *runtimekeys.Block) func(gateway.Core) []gateway.Feature {
	return func(c gateway.Core) []gateway.Feature { return []gateway.Feature{makekeys.Feature(c, b)} }
}

// madeBy returns what makes the keys of a gateway.
func madeBy(g *gateway.Gateway) *makekeys.Keys {
	made, _ := gateway.Offered[*makekeys.Keys](g)
	return made
}

func TestAKeyWhoseAnswerIsLostIsDeletedAgain(t *testing.T) {
	g := handlerstest.Start(t, handlerstest.Setup{Features: making(&runtimekeys.Block{Scopes: keys.ChatWrite, Max: 10, Shared: new(policy.Limits)})})
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
		r.Header.Set("Authorization", "Bearer "+handlerstest.SecretOf("keys"))
		handlerstest.Must(t, handlerstest.API(t, g).ServeHTTP(&c.w, c.request(r), new(handlerstest.Next)))
		made := madeBy(g).List(t.Context(), keys.EveryTenant(""), runtimekeys.Query{})
		if len(made) != c.kept {
			t.Errorf("%s: %d keys are left", name, len(made))
		}
		for _, key := range made {
			handlerstest.Must(t, madeBy(g).Delete(t.Context(), makekeys.Manager{Tenants: keys.EveryTenant("")}, key.Hash()))
		}
	}
}

func TestKeysWithoutABlockAreRefusedClearly(t *testing.T) {
	g := handlerstest.Start(t, handlerstest.Setup{Features: making(nil)})
	for _, c := range [][2]string{{"GET", "/api/v1/keys"}, {"POST", "/api/v1/keys"}, {"GET", "/api/v1/keys/0"}, {"PATCH", "/api/v1/keys/0"}, {"DELETE", "/api/v1/keys/0"}, {"POST", "/api/v1/keys/0/rotate"}} {
		handlerstest.Call(t, g, c[0], c[1], "keys", "").Want(t, 404, "not_found", "this gateway makes no keys at run time")
		if a := handlerstest.Call(t, g, c[0], c[1], "full", ""); a.Code != 403 {
			t.Errorf("%s: %d without the scope", c, a.Code)
		}
	}
}

func TestAMemberThatIsNotKnownIsRefusedByName(t *testing.T) {
	g := handlerstest.Start(t, handlerstest.Setup{Features: making(&runtimekeys.Block{Scopes: keys.ChatWrite, Max: 10, Shared: new(policy.Limits)})})
	for _, c := range []struct{ method, path, body, param string }{
		{"POST", "/api/v1/keys", `{"name":"a","title":"b"}`, "title"}, {"POST", "/api/v1/keys", `{"name":"a","disabled":true}`, "disabled"},
		{"POST", "/api/v1/keys", `{}`, "name"}, {"GET", "/api/v1/keys?page=2", "", "page"}, {"GET", "/api/v1/keys?offset=-1", "", "offset"},
		{"GET", "/api/v1/keys?include_disabled=yes", "", "include_disabled"}, {"POST", "/api/v1/keys/0/rotate", `{"grace":"soon"}`, "grace"},
	} {
		a := handlerstest.Call(t, g, c.method, c.path, "keys", c.body)
		if a.Code != 400 || !jsontest.Has(t, a.Body.String(), `{"param":"`+c.param+`"}`) {
			t.Errorf("%s %s %s: %d %s", c.method, c.path, c.body, a.Code, a.Body)
		}
	}
}

// failingLedger cannot say what was spent.
type failingLedger struct{ limits.Ledger }

func (failingLedger) Status(context.Context, time.Time, []limits.Subject) ([]limits.Balance, error) {
	return nil, limits.ErrUnavailable
}

// 503 says that nothing was changed. A rotation whose answer is lost would take the only good
// secret.
func TestAKeyIsNotChangedIfItsBalancesCannotBeRead(t *testing.T) {
	g := handlerstest.Start(t, handlerstest.Setup{Features: making(&runtimekeys.Block{Scopes: keys.ModelsRead, Max: 10, Shared: new(policy.Limits)})})
	g.Requests().Ledger = failingLedger{g.Requests().Ledger}
	a := handlerstest.Call(t, g, "POST", "/api/v1/keys", "keys", `{"name":"one","limit":2}`)
	if a.Code != 201 || !jsontest.Has(t, a.Body.String(), `{"limit_remaining":2}`) {
		t.Fatalf("a new key has spent nothing: %d %s", a.Code, a.Body)
	}
	secret := jsontest.String(t, a.Body.String(), "key")
	of := keys.EveryTenant("")
	before := madeBy(g).List(t.Context(), of, runtimekeys.Query{})[0]
	path := "/api/v1/keys/" + before.Hash()
	for _, c := range [][3]string{{"GET", path, ""}, {"PATCH", path, `{"disabled":true}`}, {"POST", path + "/rotate", ""}} {
		if a := handlerstest.Call(t, g, c[0], c[1], "keys", c[2]); a.Code != 503 {
			t.Errorf("%s %s: %d %s", c[0], c[1], a.Code, a.Body)
		}
	}
	if after := madeBy(g).List(t.Context(), of, runtimekeys.Query{})[0]; after != before {
		t.Errorf("the key was changed: %+v", after.Record)
	}
	if _, err := g.Authenticate(secret, ""); err != nil {
		t.Error(err)
	}
}

func TestAListIsOfTheWorkspaceThatWasAskedFor(t *testing.T) {
	g := handlerstest.Start(t, handlerstest.Setup{Features: making(&runtimekeys.Block{Scopes: keys.ModelsRead, Max: 10, Shared: new(policy.Limits)})})
	for _, path := range []string{"/api/v1/keys?tenant=lab", "/api/v1/keys"} {
		if a := handlerstest.Call(t, g, "POST", path, "operator", `{"name":"of `+path+`"}`); a.Code != 201 {
			t.Fatalf("%d %s", a.Code, a.Body)
		}
	}
	own := "workspace_id=" + keys.WorkspaceID("ops")
	for query, want := range map[string]int{"": 2, "tenant=lab": 1, own: 1, own + "&tenant=ops": 1, own + "&tenant=lab": 0, "workspace_id=x": 0} {
		a := handlerstest.Call(t, g, "GET", "/api/v1/keys?"+query, "operator", "")
		if n := strings.Count(a.Body.String(), `"hash"`); a.Code != 200 || n != want {
			t.Errorf("%q: %d keys, want %d: %d %s", query, n, want, a.Code, a.Body)
		}
	}
}

// The request of the old secret may still be under way.
func TestAReplacedSecretOpensNoDesktop(t *testing.T) {
	g := handlerstest.Start(t, handlerstest.Setup{Features: making(&runtimekeys.Block{Scopes: keys.WorkstationsConnect, Max: 10, Shared: new(policy.Limits)})})
	vnc, _ := gateway.Offered[gateway.VNC](g)
	made, by := madeBy(g), makekeys.Manager{Tenants: keys.EveryTenant("")}
	edit := made.Edit("default")
	if _, err := edit.Member("name", []byte(`"one"`)); err != nil {
		t.Fatal(err)
	}
	key, secret, err := made.Create(t.Context(), by, "default", edit, "")
	handlerstest.Must(t, err)
	caller, err := g.Authenticate(secret, "")
	handlerstest.Must(t, err)
	handlerstest.Must(t, vnc.StillMayConnect(&caller))
	_, secret, err = made.Rotate(t.Context(), by, key.Hash(), 0)
	handlerstest.Must(t, err)
	if err := vnc.StillMayConnect(&caller); err == nil {
		t.Error("the replaced secret may still connect")
	}
	caller, err = g.Authenticate(secret, "")
	handlerstest.Must(t, err)
	handlerstest.Must(t, vnc.StillMayConnect(&caller))
}

func TestKeysOfTheConfigurationAreListedForTheirTenant(t *testing.T) {
	g := handlerstest.Start(t, handlerstest.Setup{Features: making(nil)}) // without runtime_keys
	a := handlerstest.Call(t, g, "GET", "/api/v1/keys?source=configuration", "keys", "")
	names := map[string]bool{}
	list, _ := a.At(t, "data").([]any)
	for _, k := range list {
		names[k.(map[string]any)["name"].(string)] = true
	}
	if a.Code != 200 || len(list) != len(handlerstest.KeyScopes)-2 || !names["keys"] || names["other"] || names["operator"] {
		t.Errorf("%d %v", a.Code, names)
	}
	const connect = `{"name":"connect","tenant":"default","source":"configuration","disabled":false,"expires_at":"2026-03-18T13:00:00Z","scopes":["workstations:connect"],"models":[],"mcp":[],"hosted_tools":false,"all_tenants":false}`
	if !strings.Contains(a.Body.String(), connect) || strings.Contains(a.Body.String(), "hash") {
		t.Errorf("%s", a.Body)
	}
	all := handlerstest.Call(t, g, "GET", "/api/v1/keys?source=configuration", "operator", "")
	if list, _ = all.At(t, "data").([]any); len(list) != len(handlerstest.KeyScopes) {
		t.Errorf("an operator sees %d", len(list))
	}
	one := handlerstest.Call(t, g, "GET", "/api/v1/keys/connect?source=configuration", "keys", "")
	if one.Code != 200 || strings.TrimSpace(one.Body.String()) != `{"data":`+connect+`}` {
		t.Errorf("one key: %d %s", one.Code, one.Body)
	}
	if a := handlerstest.Call(t, g, "GET", "/api/v1/keys/one-model?source=configuration", "keys", ""); !jsontest.Has(t, a.Body.String(), `{"models":["acme/n"]}`) {
		t.Errorf("a key with one model: %d %s", a.Code, a.Body)
	}
	for _, path := range []string{"/api/v1/keys/other?source=configuration", "/api/v1/keys/none?source=configuration", "/api/v1/keys/connect?source=configuration&tenant=other", "/api/v1/keys/connect"} {
		handlerstest.Call(t, g, "GET", path, "keys", "").Want(t, 404, "not_found", "")
	}
	handlerstest.Call(t, g, "GET", "/api/v1/keys/other?source=configuration&tenant=other", "operator", "").Want(t, 200, "", `"tenant":"other"`)
	handlerstest.Call(t, g, "PATCH", "/api/v1/keys/connect?source=configuration", "keys", `{"disabled":true}`).Want(t, 404, "not_found", "")
	other := handlerstest.Call(t, g, "GET", "/api/v1/keys?source=configuration&tenant=other", "operator", "")
	if list, _ = other.At(t, "data").([]any); len(list) != 1 {
		t.Errorf("one tenant has %d", len(list))
	}
	for _, path := range []string{"/api/v1/keys", "/api/v1/keys/connect"} {
		handlerstest.Call(t, g, "GET", path+"?source=x", "keys", "").Want(t, 400, "invalid_request", "want runtime or configuration")
		handlerstest.Call(t, g, "GET", path+"?source=runtime", "keys", "").Want(t, 404, "not_found", "")
	}
	handlerstest.Call(t, g, "GET", "/api/v1/keys?source=configuration", "chat", "").Want(t, 403, "permission_denied", "keys:manage")
}
