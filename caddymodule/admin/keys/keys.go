// Package keys has the operator's routes of keys on Caddy's admin endpoint.
package keys

import (
	"encoding/json"
	"io"
	"maps"
	"net/http"
	"slices"

	"github.com/gatehouse-proxy/gatehouse/caddymodule/admin"
	"github.com/gatehouse-proxy/gatehouse/internal/apierror"
	"github.com/gatehouse-proxy/gatehouse/internal/features/runtimekeys"
	"github.com/gatehouse-proxy/gatehouse/internal/gateway"
	"github.com/gatehouse-proxy/gatehouse/internal/keys"
	"github.com/gatehouse-proxy/gatehouse/internal/report"
)

func init() { admin.Register("keys", keyRoutes()) }

// keyRoutes are the operator's routes of keys made at run time. They take and give what
// /api/v1/keys does; {hash} may be the beginning of one.
func keyRoutes() *http.ServeMux {
	const all, one = admin.Root + "keys", admin.Root + "keys/{hash}"
	routes := http.NewServeMux()
	for pattern, serve := range map[string]keyFunc{
		"GET " + all: listMadeKeys, "POST " + all: createMadeKey,
		"GET " + one: showMadeKey, "PATCH " + one: updateMadeKey, "DELETE " + one: deleteMadeKey, "POST " + one + "/rotate": rotateMadeKey,
	} {
		routes.Handle(pattern, serve)
	}
	return routes
}

// keyFunc returns the answer as JSON. Hash is the hash of the path, in full; "" without one.
type keyFunc func(made *runtimekeys.Keys, by runtimekeys.Manager, hash string, r *http.Request) ([]byte, error)

func (serve keyFunc) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	answer, err := serve.answer(r)
	admin.Write(w, json.RawMessage(answer), err)
}

func (serve keyFunc) answer(r *http.Request) ([]byte, error) {
	active, err := admin.Running(r, r.Method)
	if err != nil {
		return nil, err
	}
	tenants, hash := keys.EveryTenant(r.URL.Query().Get("tenant")), r.PathValue("hash")
	if r.Method == http.MethodGet && hash == "" && r.URL.Query().Get("source") == "configuration" {
		configured, _ := gateway.Offered[*keys.Keyring](active)
		return json.Marshal(report.ConfiguredKeys(configured.Of(tenants)))
	}
	made, _ := gateway.Offered[*runtimekeys.Keys](active)
	if err := made.Configured(); err != nil {
		return nil, err
	}
	by := runtimekeys.Manager{Name: "operator", Tenants: tenants}
	if hash != "" {
		if hash, err = made.Find(r.Context(), by.Tenants, hash); err != nil {
			return nil, err
		}
	}
	return serve(made, by, hash, r)
}

func listMadeKeys(made *runtimekeys.Keys, by runtimekeys.Manager, _ string, r *http.Request) ([]byte, error) {
	q, err := runtimekeys.KeyQuery(r.URL.Query())
	if err != nil {
		return nil, err
	}
	page := made.List(r.Context(), by.Tenants, q)
	spent, err := made.Spent(r.Context(), page...)
	if err != nil {
		return nil, err
	}
	return runtimekeys.MadeKeys(page, spent), nil
}

func createMadeKey(made *runtimekeys.Keys, by runtimekeys.Manager, _ string, r *http.Request) ([]byte, error) {
	tenant := r.URL.Query().Get("tenant")
	if tenant == "" {
		tenant = keys.DefaultTenant
	}
	edit := made.Edit(tenant)
	if err := readMembers(r.Body, edit.Member); err != nil {
		return nil, err
	}
	key, secret, err := made.Create(r.Context(), by, tenant, edit, "")
	if err != nil {
		return nil, err
	}
	return runtimekeys.MadeKey(key, secret, nil, runtimekeys.KeyWarnings(made, key)...), nil
}

func showMadeKey(made *runtimekeys.Keys, by runtimekeys.Manager, hash string, r *http.Request) ([]byte, error) {
	key, spent, err := made.Get(r.Context(), by.Tenants, hash)
	if err != nil {
		return nil, err
	}
	return runtimekeys.MadeKey(key, "", spent), nil
}

func updateMadeKey(made *runtimekeys.Keys, by runtimekeys.Manager, hash string, r *http.Request) ([]byte, error) {
	edit := made.Edit("")
	if err := readMembers(r.Body, edit.Member); err != nil {
		return nil, err
	}
	_, spent, err := made.Get(r.Context(), by.Tenants, hash)
	if err != nil {
		return nil, err
	}
	key, err := made.Update(r.Context(), by, hash, edit)
	if err != nil {
		return nil, err
	}
	return runtimekeys.MadeKey(key, "", spent, runtimekeys.KeyWarnings(made, key)...), nil
}

func deleteMadeKey(made *runtimekeys.Keys, by runtimekeys.Manager, hash string, r *http.Request) ([]byte, error) {
	return runtimekeys.DeletedKey(), made.Delete(r.Context(), by, hash)
}

func rotateMadeKey(made *runtimekeys.Keys, by runtimekeys.Manager, hash string, r *http.Request) ([]byte, error) {
	var grace runtimekeys.Grace
	if err := readMembers(r.Body, grace.Member); err != nil {
		return nil, err
	}
	_, spent, err := made.Get(r.Context(), by.Tenants, hash)
	if err != nil {
		return nil, err
	}
	key, secret, err := made.Rotate(r.Context(), by, hash, grace.Duration)
	if err != nil {
		return nil, err
	}
	return runtimekeys.MadeKey(key, secret, spent), nil
}

// maxKeyBody bounds the body of a request, in bytes.
const maxKeyBody = 64 << 10

// readMembers reads a body that may be empty: an object, each member of which read takes.
func readMembers(body io.Reader, read func(name string, value []byte) (known bool, err error)) error {
	text, err := io.ReadAll(io.LimitReader(body, maxKeyBody))
	if err != nil || len(text) == 0 {
		return err
	}
	var members map[string]json.RawMessage
	if err := json.Unmarshal(text, &members); err != nil {
		return apierror.New(apierror.InvalidJSON, "the body is not a JSON object: %v", err)
	}
	for _, name := range slices.Sorted(maps.Keys(members)) {
		known, err := read(name, members[name])
		if err == nil && !known {
			err = apierror.New(apierror.UnsupportedParameter, "unknown field %q", name)
		}
		if err != nil {
			return err
		}
	}
	return nil
}
