// Package openapi describes the API in an OpenAPI document, which is made from the route table and
// from the types of requests and answers.
package openapi

import (
	"bytes"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"net/http"
	"sync"
	"time"

	"github.com/gatehouse-proxy/gatehouse/handlers"
)

// Path is where the document is. It needs no key: it depends on the build only, not on the
// configuration.
const Path = "/openapi.json"

func init() { handlers.AddDocument(Path, serve) }

// Document is the description of the routes that are in the build. The caller must not change it.
var Document = sync.OnceValue(func() []byte {
	text, err := json.Marshal(describe(handlers.Routes()))
	if err != nil {
		panic(err) // a test makes it
	}
	return text
})

var entityTag = sync.OnceValue(func() string {
	sum := sha256.Sum256(Document())
	return `"` + base64.RawURLEncoding.EncodeToString(sum[:12]) + `"`
})

func serve(w http.ResponseWriter, r *http.Request) {
	h := w.Header()
	h.Set("Content-Type", "application/json")
	h.Set("Cache-Control", "no-cache") // it may be kept, and is asked for again
	h.Set("ETag", entityTag())
	http.ServeContent(w, r, "", time.Time{}, bytes.NewReader(Document()))
}
