package keys

import (
	"net/http/httptest"
	"testing"

	"github.com/gatehouse-proxy/gatehouse/caddymodule/admin"
	"github.com/gatehouse-proxy/gatehouse/internal/testkit/jsontest"
)

func TestTheAdminAPIHasTheRoutesOfKeys(t *testing.T) {
	for _, route := range (admin.API{}).Routes() {
		if route.Pattern != admin.Root+"keys" {
			continue
		}
		w := httptest.NewRecorder()
		if err := route.Handler.ServeHTTP(w, httptest.NewRequest("GET", route.Pattern, nil)); err != nil {
			t.Fatal(err)
		}
		if code := jsontest.String(t, w.Body.String(), "code"); w.Code != 404 || code != "not_found" {
			t.Errorf("without the app: %d %s", w.Code, w.Body)
		}
		return
	}
	t.Error("there is no such route")
}
