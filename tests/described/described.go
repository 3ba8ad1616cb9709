// Package described holds answers against the description of the API.
package described

import (
	"bytes"
	"encoding/json"
	"fmt"
	"mime"
	"net/http"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/gatehouse-proxy/gatehouse/handlers/openapi"
	"github.com/gatehouse-proxy/gatehouse/internal/testkit/jsontest"
	"github.com/gatehouse-proxy/gatehouse/internal/testkit/schematest"
)

// description is the description of the API, as far as answers are held against it.
type description struct {
	paths []describedPath // literal ones first

	mu      sync.Mutex
	schemas map[string]schematest.Schema // by their place
}

type describedPath struct {
	path    string
	matches *regexp.Regexp
	methods map[string]describedOperation
}

type describedOperation struct {
	ID        string `json:"operationId"`
	Responses map[string]struct {
		Content map[string]struct{ Schema json.RawMessage }
	}
}

var readDescription = sync.OnceValues(func() (*description, error) {
	var document struct {
		Paths map[string]map[string]describedOperation
	}
	if err := json.Unmarshal(openapi.Document(), &document); err != nil {
		return nil, err
	}
	d := &description{schemas: map[string]schematest.Schema{}}
	for path, methods := range document.Paths {
		pattern := regexp.QuoteMeta(path)
		pattern = strings.ReplaceAll(pattern, `\{model\}`, `.+`)
		pattern = regexp.MustCompile(`\\\{[a-z]+\\\}`).ReplaceAllString(pattern, `[^/]+`)
		d.paths = append(d.paths, describedPath{path, regexp.MustCompile("^" + pattern + "$"), methods})
	}
	slices.SortFunc(d.paths, func(a, b describedPath) int {
		if parameters := strings.Count(a.path, "{") - strings.Count(b.path, "{"); parameters != 0 {
			return parameters
		}
		return strings.Compare(b.path, a.path)
	})
	return d, nil
})

// Strict reports what is wrong with a body of JSON: every parser must read it alike.
func Strict(header http.Header, body []byte) error { return strict(header, "application/json", body) }

// StrictEvent reports what is wrong with the data of an event, which is JSON or the end's mark.
func StrictEvent(header http.Header, data []byte) error {
	return strict(header, "text/event-stream", bytes.TrimSuffix(data, []byte("[DONE]")))
}

func strict(header http.Header, of string, text []byte) error {
	if media, _, _ := mime.ParseMediaType(header.Get("Content-Type")); media != of || len(text) == 0 {
		return nil
	}
	return jsontest.Strict(text)
}

// Check returns which operation of the description an answer is of, "" for none of the gateway's
// own, and an error if the description has no such answer.
func Check(t testing.TB, r *http.Request, code int, header http.Header, body []byte) (operation string, err error) {
	t.Helper()
	d, err := readDescription()
	if err != nil {
		t.Fatal(err)
	}
	i := slices.IndexFunc(d.paths, func(p describedPath) bool { return p.matches.MatchString(r.URL.Path) })
	if i < 0 || ofOtherVendor(r) {
		return "", nil
	}
	method := strings.ToLower(strings.Replace(r.Method, http.MethodHead, http.MethodGet, 1))
	o, ok := d.paths[i].methods[method]
	if _, vendors := o.Responses["default"]; !ok || vendors {
		return "", nil
	}
	status := strconv.Itoa(code)
	response, ok := o.Responses[status]
	media, _, _ := mime.ParseMediaType(header.Get("Content-Type"))
	content, known := response.Content[media]
	switch {
	case !ok:
		return o.ID, fmt.Errorf("no status %s", status)
	case len(body) == 0 && (len(response.Content) == 0 || r.Method == http.MethodHead):
		return o.ID, nil
	case !known:
		return o.ID, fmt.Errorf("status %s has no %s", status, media)
	case content.Schema == nil:
		return o.ID, nil
	}
	escape := strings.NewReplacer("~", "~0", "/", "~1", "{", "%7B", "}", "%7D")
	at := "#/paths/" + escape.Replace(d.paths[i].path) + "/" + method + "/responses/" + status + "/content/" + escape.Replace(media) + "/schema"
	d.mu.Lock()
	defer d.mu.Unlock()
	schema, ok := d.schemas[at]
	if !ok {
		schema = schematest.Compile(t, openapi.Document(), at)
		d.schemas[at] = schema
	}
	return o.ID, schema.Check(body)
}

// ofOtherVendor reports whether a header names a vendor's SDKs: lists of models have its form.
func ofOtherVendor(r *http.Request) bool {
	return r.Header.Get("Anthropic-Version") != "" || r.Header.Get("X-Goog-Api-Key") != "" || r.Header.Get("X-Goog-Api-Client") != ""
}

// Operations are the ids of the operations of the gateway's own.
func Operations(t testing.TB) (ids []string) {
	t.Helper()
	d, err := readDescription()
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range d.paths {
		for _, o := range p.methods {
			if _, vendors := o.Responses["default"]; !vendors {
				ids = append(ids, o.ID)
			}
		}
	}
	slices.Sort(ids)
	return ids
}
