package openapi

import (
	"cmp"
	"embed"
	"net/http"
	"path"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"github.com/gatehouse-proxy/gatehouse/handlers"
	"github.com/gatehouse-proxy/gatehouse/internal/apierror"
	"github.com/gatehouse-proxy/gatehouse/internal/jsonschema"
	"github.com/gatehouse-proxy/gatehouse/internal/openrouter"
)

type object = map[string]any

const schemas = "#/components/schemas/"

// writer makes the parts of the document. What is written and what is read have the same
// definitions but for pointers, which no type of a request shares with one of an answer.
type writer struct{ written, read *jsonschema.Maker }

//go:embed types.go
var source embed.FS

// describe makes the document.
func describe(table []handlers.Route) object {
	defs := map[string]jsonschema.Schema{}
	comments, _ := jsonschema.Comments(source) // the compiler has read them
	comment := func(of reflect.Type, field string) string {
		if of.PkgPath() != reflect.TypeFor[writer]().PkgPath() {
			return ""
		}
		return comments[of.Name()+"."+field]
	}
	w := writer{
		written: &jsonschema.Maker{Path: schemas, Defs: defs, Types: types(), Describe: comment, Written: true},
		read:    &jsonschema.Maker{Path: schemas, Defs: defs, Types: types(), Describe: comment},
	}
	row := of[openrouter.ActivityRow]()
	w.written.Types[row], defs[row.Name()] = jsonschema.Schema{"$ref": schemas + row.Name()}, activityRow(w.written)
	defs["Error"], defs["RouterError"] = w.written.Struct(of[openaiError]()), w.written.Struct(of[routerError]())
	paths := map[string]object{}
	add := func(method, path string, described object) {
		if paths[path] == nil {
			paths[path] = object{}
		}
		paths[path][strings.ToLower(method)] = described
	}
	for _, r := range listed(table) {
		if own := routes[r.name()]; own != nil {
			described := *own
			if described.answer == nil {
				described.answer = r.answer
			}
			add(r.method, r.path, w.operation(r, &described))
		} else if vendor := vendorOf(r.path); vendor != "" {
			add(r.method, r.path, ofVendor(r, vendor))
		}
	}
	for path, own := range open {
		described := w.operation(route{method: http.MethodGet, path: path}, own)
		described["security"] = []object{}
		add(http.MethodGet, path, described)
	}
	return object{
		"openapi": "3.1.0", "info": object{"title": "Gatehouse", "version": "1", "description": about},
		"servers": []object{{"url": "/"}}, "paths": paths,
		"components": object{"schemas": defs, "securitySchemes": object{"key": object{"type": "http", "scheme": "bearer", "description": "a gateway key"}}},
	}
}

// route is a row of the route table.
type route struct {
	method, path string
	family       string       // of SDKs, whose errors it has
	scope        string       // of the key; "": none, or by what is asked for
	answer       reflect.Type // as the table has it
}

func (r route) name() string { return r.method + " " + r.path }

// listed are the rows of the table, but those of people who sign in, which describe themselves (RFC
// 8414). A path that is also a name of a workstation is listed once.
func listed(table []handlers.Route) (all []route) {
	for _, r := range table {
		if handlers.IsOpen(r.Operation) {
			continue
		}
		if r.Path == handlers.SyncPath && slices.ContainsFunc(table, func(other handlers.Route) bool {
			return other.Path == path.Dir(handlers.SyncPath)+"/{id}" && other.Operation == r.Operation
		}) {
			continue
		}
		at := r.Path
		if strings.HasSuffix(at, "/") {
			at += "{model}"
		}
		all = append(all, route{r.Operation.Method, at, r.API.Name(), r.Operation.Scope.String(), handlers.AnswerOf(r.Operation)})
	}
	return all
}

const about = "The gateway's own routes. Those of an SDK are listed with a link to its vendor's documentation. " +
	"The roles of a security requirement are the scopes that the key needs."

// operation describes a route of the gateway's own.
func (w *writer) operation(r route, own *operation) object {
	answers := object{}
	if own.answer == nil && own.media == "" {
		answers[strconv.Itoa(cmp.Or(own.status, http.StatusNoContent))] = object{"description": "done"}
	} else {
		content := object{}
		if own.answer != nil {
			schema := w.written.Of(own.answer)
			if own.or != nil {
				schema = jsonschema.Schema{"anyOf": []jsonschema.Schema{schema, w.written.Of(own.or)}}
			}
			content["application/json"] = object{"schema": schema}
		}
		if own.media != "" {
			content[own.media] = object{}
		}
		for _, status := range append([]int{cmp.Or(own.status, http.StatusOK)}, own.also...) {
			answer := object{"description": http.StatusText(status), "content": content}
			if status == http.StatusNotModified {
				delete(answer, "content")
			}
			answers[strconv.Itoa(status)] = answer
		}
	}
	codes := own.codes
	if r.family != "" {
		codes = append(append([]apierror.Code{}, everywhere...), codes...)
		if own.request != nil {
			codes = append(codes, withBody...)
		}
	}
	for status, some := range byStatus(codes) {
		answers[strconv.Itoa(status)] = refusal(r.family, some)
	}
	described := object{
		"operationId": own.id, "summary": own.summary, "tags": []string{tagOf(r.path)}, "responses": answers, "security": []object{{"key": scopesOf(r)}},
	}
	if own.request != nil {
		described["requestBody"] = object{"required": own.needsBody, "content": object{"application/json": object{"schema": w.read.Of(own.request)}}}
	}
	if p := append(inPath(r.path), inQuery(own)...); len(p) > 0 {
		described["parameters"] = p
	}
	return described
}

// byStatus sorts codes by the status that they have.
func byStatus(codes []apierror.Code) map[int][]apierror.Code {
	all := map[int][]apierror.Code{}
	for _, code := range codes {
		status := apierror.New(code, "").HTTPStatus()
		if !slices.Contains(all[status], code) {
			all[status] = append(all[status], code)
		}
	}
	return all
}

// refusal describes the refusals of a status, as the family has them.
func refusal(family string, codes []apierror.Code) object {
	var words []string
	for _, code := range codes {
		words = append(words, string(code))
	}
	name, member, found := "Error", object{}, words
	if family == "openrouter" {
		name, found = "RouterError", nil
		for _, code := range codes {
			if kind := apierror.New(code, "").OpenRouterType(); !slices.Contains(found, kind) {
				found = append(found, kind)
			}
		}
		member = object{"metadata": object{"properties": object{"error_type": object{"enum": found}}}}
	} else {
		member["code"] = object{"enum": found}
	}
	narrowed := object{"properties": object{"error": object{"properties": member}}}
	return object{"description": strings.Join(words, ", "), "content": object{"application/json": object{
		"schema": object{"allOf": []object{{"$ref": schemas + name}, narrowed}},
	}}}
}

// ofVendor describes a route of a vendor's API.
func ofVendor(r route, vendor string) object {
	described := object{
		"operationId": strings.ToLower(r.method) + strings.NewReplacer("/", "_", "{", "", "}", "", ":", "_").Replace(r.path),
		"summary":     "As the vendor documents it", "tags": []string{"of vendors"}, "externalDocs": object{"url": vendor},
		"responses": object{"default": object{"description": "as the vendor documents it; errors too"}}, "security": []object{{"key": scopesOf(r)}},
	}
	if p := inPath(r.path); p != nil {
		described["parameters"] = p
	}
	return described
}

func scopesOf(r route) []string {
	if r.scope == "" {
		return []string{}
	}
	return []string{r.scope}
}

// tagOf is what a path is about: "workstations" of /v1/workstations/{id}.
func tagOf(path string) string {
	for _, prefix := range []string{"/api/v1/", "/v1/", "/"} {
		if rest, ok := strings.CutPrefix(path, prefix); ok {
			tag, _, _ := strings.Cut(rest, "/")
			return tag
		}
	}
	return path
}

func inPath(path string) (all []object) {
	for rest := path; ; {
		_, after, found := strings.Cut(rest, "{")
		if !found {
			return all
		}
		name, after, _ := strings.Cut(after, "}")
		all = append(all, object{"name": name, "in": "path", "required": true, "schema": object{"type": "string"}})
		rest = after
	}
}

func inQuery(own *operation) (all []object) {
	for _, name := range own.params {
		schema := object{"type": "string"}
		if slices.Contains(numbers, name) {
			schema = object{"type": "integer"}
		}
		p := object{"name": name, "in": "query", "schema": schema}
		if name == own.required {
			p["required"] = true
		}
		if name == "label" { // several are possible
			p["schema"] = object{"type": "array", "items": schema}
		}
		all = append(all, p)
	}
	return all
}
