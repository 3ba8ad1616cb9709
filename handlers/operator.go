package handlers

import (
	"context"
	"encoding/json"
	"net/http"

	"github.com/gatehouse-proxy/gatehouse/internal/api"
	"github.com/gatehouse-proxy/gatehouse/internal/apierror"
	"github.com/gatehouse-proxy/gatehouse/internal/keys"
	"github.com/gatehouse-proxy/gatehouse/internal/request"
)

// Operator is somebody at Caddy's admin endpoint, who may do all that a key may, for every tenant.
type Operator struct {
	// Tenant is the one for which a route acts that takes no tenant. Default: default.
	Tenant string
	// Name and Item are the names in the path of the route; see [Request].
	Name, Item string
}

// Serve serves a request by the route of a path, as the table has it: "/v1/workstations/{id}". What
// only reads leaves no row. The error of a refusal is a text.
func (o Operator) Serve(g Gateway, path string, w http.ResponseWriter, r *http.Request) {
	m := match{name: o.Name, item: o.Item}
	for _, row := range Routes() {
		if row.Path == path {
			m.api = operatorAPI{row.API}
			m.operations = append(m.operations, row.Operation)
		}
	}
	if len(m.operations) == 0 {
		_ = refuse(g, w, r, operatorAPI{api.OpenAI{}}, unknownURL(r))
		return
	}
	tenant := o.Tenant
	if tenant == "" {
		tenant = keys.DefaultTenant
	}
	key := &keys.Key{Name: "operator", Tenant: tenant, Scopes: ^keys.Scope(0), AllTenants: true}
	caller := request.Caller{Credential: keys.Credential{Key: key}}
	ctx := context.WithValue(context.WithValue(r.Context(), pageKey{}, true), callerKey{}, caller)
	_ = serve(g, w, r.WithContext(ctx), &m) // never fails: it has answered
}

// operatorAPI is an API whose refusals have the shape of Caddy's admin endpoint.
type operatorAPI struct{ api.API }

// AppendError appends the error as a text. Texts can always be encoded.
func (operatorAPI) AppendError(dst []byte, e *apierror.Error, _ string) []byte {
	body, _ := json.Marshal(map[string]string{"error": e.Message, "code": string(e.Code)})
	return append(dst, body...)
}
