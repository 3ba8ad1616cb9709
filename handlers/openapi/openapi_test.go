package openapi

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"os"
	"slices"
	"testing"

	"github.com/gatehouse-proxy/gatehouse/handlers"
	_ "github.com/gatehouse-proxy/gatehouse/handlers/agents"
	_ "github.com/gatehouse-proxy/gatehouse/handlers/audio"
	_ "github.com/gatehouse-proxy/gatehouse/handlers/authserver"
	_ "github.com/gatehouse-proxy/gatehouse/handlers/gemini"
	_ "github.com/gatehouse-proxy/gatehouse/handlers/keys"
	_ "github.com/gatehouse-proxy/gatehouse/handlers/mcp"
	_ "github.com/gatehouse-proxy/gatehouse/handlers/realtime"
	_ "github.com/gatehouse-proxy/gatehouse/handlers/recordings"
	_ "github.com/gatehouse-proxy/gatehouse/handlers/sockets"
	_ "github.com/gatehouse-proxy/gatehouse/handlers/vncsocket"
	"github.com/gatehouse-proxy/gatehouse/internal/recording"
	"github.com/gatehouse-proxy/gatehouse/internal/testkit/schematest"
)

func TestEachRouteIsDescribed(t *testing.T) {
	var document struct {
		Paths map[string]map[string]struct{ OperationID, Summary string }
	}
	if err := json.Unmarshal(Document(), &document); err != nil {
		t.Fatal(err)
	}
	known := map[string]bool{}
	for _, r := range listed(handlers.Routes()) {
		method := map[string]string{"GET": "get", "POST": "post", "PUT": "put", "PATCH": "patch", "DELETE": "delete"}[r.method]
		if d := document.Paths[r.path][method]; d.OperationID == "" || d.Summary == "" {
			t.Errorf("%s is not described", r.name())
		}
		known[r.name()] = true
	}
	for name := range routes {
		if !known[name] {
			t.Errorf("there is no route %s", name)
		}
	}
	for _, v := range vendors {
		if !slices.ContainsFunc(handlers.Routes(), func(r handlers.Route) bool { return vendorOf(r.Path) == v.documentation }) {
			t.Errorf("no route begins with %s", v.prefix)
		}
	}
	ids := map[string]string{}
	for path, methods := range document.Paths {
		for method, d := range methods {
			if other := ids[d.OperationID]; other != "" {
				t.Errorf("%s and %s %s have the id %s", other, method, path, d.OperationID)
			}
			ids[d.OperationID] = method + " " + path
		}
	}
	const most = 256 << 10
	if len(Document()) > most {
		t.Errorf("the document has %d bytes", len(Document()))
	}
}

func TestRecordingsAreDescribedWithAllTheirParameters(t *testing.T) {
	if got, want := routes["GET /v1/recordings"].params, new(recording.Store).Params(); !slices.Equal(got, want) {
		t.Errorf("%v are described, not %v", got, want)
	}
}

func TestAKnownDocumentIsNotSentAgain(t *testing.T) {
	ask := func(method, known string) *httptest.ResponseRecorder {
		w, r := httptest.NewRecorder(), httptest.NewRequest(method, Path, nil)
		if known != "" {
			r.Header.Set("If-None-Match", known)
		}
		serve(w, r)
		return w
	}
	first := ask(http.MethodGet, "")
	if first.Code != http.StatusOK || first.Body.String() != string(Document()) || first.Header().Get("Content-Type") != "application/json" {
		t.Errorf("%d %v", first.Code, first.Header())
	}
	if again := ask(http.MethodGet, first.Header().Get("ETag")); again.Code != http.StatusNotModified || again.Body.Len() != 0 {
		t.Errorf("%d with %d bytes", again.Code, again.Body.Len())
	}
	if head := ask(http.MethodHead, ""); head.Code != http.StatusOK || head.Body.Len() != 0 {
		t.Errorf("%d with %d bytes", head.Code, head.Body.Len())
	}
}

// The official schema of OpenAPI 3.1 is not changed:
// https://spec.openapis.org/oas/3.1/schema/2025-11-23, under the licence beside it. It does not
// look into schemas, which are compiled here.
func TestTheDocumentIsOpenAPI(t *testing.T) {
	official, err := os.ReadFile("testdata/oas-3.1-schema.json")
	if err != nil {
		t.Fatal(err)
	}
	if sum := sha256.Sum256(official); hex.EncodeToString(sum[:]) != "1b8ccc6e34234b17536f2dd0eb3597142a32bd108438cd42471a5fca4c1a07ef" {
		t.Errorf("the official schema was changed: %x", sum)
	}
	s := schematest.Compile(t, official, "")
	if err := s.Check(Document()); err != nil {
		t.Error(err)
	}
	if s.Check([]byte(`{"openapi":"3.1.0","info":{"title":"a"},"paths":{}}`)) == nil {
		t.Error("a document without a version is one")
	}
	var document struct {
		Components struct{ Schemas map[string]any }
	}
	if err := json.Unmarshal(Document(), &document); err != nil {
		t.Fatal(err)
	}
	for name := range document.Components.Schemas {
		schematest.Compile(t, Document(), schemas+name)
	}
}
