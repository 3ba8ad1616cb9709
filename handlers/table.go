package handlers

import (
	"maps"
	"reflect"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/caddyserver/caddy/v2"

	"github.com/gatehouse-proxy/gatehouse/internal/api"
	"github.com/gatehouse-proxy/gatehouse/internal/keys"
)

// Operation is one endpoint of the gateway, the same for all families.
type Operation struct {
	Name     string     // the single module that has it is http.handlers.gatehouse_<Name>
	Method   string     // a GET endpoint answers HEAD too
	Scope    keys.Scope // 0 = any valid key
	Recorded bool       // a success leaves a record too
	Serve    func(*Request) error
}

// answers are the types of answers of operations of features.
var answers = map[*Operation]reflect.Type{}

// Answers notes the type of the JSON that an operation of a feature answers with, for descriptions
// of the API. It is called by init functions.
func Answers[T any](o *Operation) { answers[o] = reflect.TypeFor[T]() }

// AnswerOf returns what Answers has noted, nil for nothing.
func AnswerOf(o *Operation) reflect.Type { return answers[o] }

// keyless are the operations for which nobody needs a key.
var keyless = map[*Operation]bool{}

// Open notes that nobody needs a key for an operation of a feature: its requests have no Req. It is
// called by init functions.
func Open(o *Operation) { keyless[o] = true }

// IsOpen reports whether nobody needs a key for an operation.
func IsOpen(o *Operation) bool { return keyless[o] }

// sockets are the operations that are WebSockets.
var sockets = map[*Operation]func(Gateway) bool{}

// Socket notes that an operation is a WebSocket over HTTP/1.1, and which gateways have it. Where
// one has it not its path is as without the operation, before any check of the key. It is called by
// init functions.
func Socket(o *Operation, has func(Gateway) bool) { sockets[o] = has }

// long are the operations whose requests go on when their handlers return.
var long = map[*Operation]bool{}

// Long notes that an operation finds its caller by itself, and begins requests that go on when its
// handler returns, see [Begin]. It is called by init functions.
func Long(o *Operation) { long[o] = true }

// Route is one row of the table. A path that ends in a slash takes the rest of the request's path
// as a name, because the name of a model has slashes. {model} is such a name within a path; {id},
// {hash} and {session} stand for one segment each.
type Route struct {
	Path      string
	API       api.API
	Operation *Operation
}

var (
	registered []Route
	complete   atomic.Bool // registered is in use
)

// Register adds rows to the table of routes, and makes each operation with a new name a module and
// a directive. A feature calls it in an init function: once the table is in use, Register panics.
func Register(rows ...Route) {
	if complete.Load() {
		panic("handlers: a route was registered after the program has started")
	}
	for _, r := range rows {
		if name := r.Operation.Name; !slices.Contains(operationNames(), name) {
			caddy.RegisterModule(Endpoint{name: name})
			register("gatehouse_"+name, "respond", func() directive { return &Endpoint{name: name} })
		}
		registered = append(registered, r)
	}
}

// Routes returns the table: the rows of the core, and then those of the features.
func Routes() []Route { return slices.Clone(registered) }

// operationNames returns the names of the operations in the table, each once.
func operationNames() (names []string) {
	for _, r := range registered {
		if !slices.Contains(names, r.Operation.Name) {
			names = append(names, r.Operation.Name)
		}
	}
	return names
}

// table is what is made of the rows, once.
type table struct {
	exact            map[string]*match // by the path
	models, patterns []pathMatch       // paths with a {model} or the rest as a name; with other names
	names            map[familyOperation]string
	owners           map[string]api.API // the family that alone has a name, nil for OpenAI's and OpenRouter's
}

type pathMatch struct {
	path string
	*match
}

type familyOperation struct {
	family    string
	operation *Operation
}

var theTable = sync.OnceValue(func() *table {
	complete.Store(true)
	return newTable(registered)
})

// newTable has each path once, with all its operations.
func newTable(rows []Route) *table {
	t := &table{exact: make(map[string]*match, len(rows)), names: make(map[familyOperation]string, len(rows)), owners: map[string]api.API{}}
	paths := make(map[string]*match, len(rows))
	for _, r := range rows {
		t.note(r)
		if m := paths[r.Path]; m != nil {
			m.operations = append(m.operations, r.Operation)
			continue
		}
		m := &match{api: r.API, operations: []*Operation{r.Operation}}
		paths[r.Path] = m
		switch {
		case strings.HasSuffix(r.Path, "/"), strings.Contains(r.Path, "{model}"):
			t.models = append(t.models, pathMatch{r.Path, m})
		case strings.Contains(r.Path, "{"):
			t.patterns = append(t.patterns, pathMatch{r.Path, m})
		default:
			if t.exact[r.Path] = m; r.Path == SyncPath {
				m.name = "sync"
			}
		}
	}
	// What ends a path after the name of a model goes before what takes all of the rest as the
	// name.
	slices.SortStableFunc(t.models, func(a, b pathMatch) int { return len(afterModel(b.path)) - len(afterModel(a.path)) })
	t.names[familyOperation{api.Anthropic{}.Name(), modelsEndpoint}] = "GET /v1/models" // see matchRequest
	return t
}

func afterModel(path string) string {
	_, after, _ := strings.Cut(path, "{model}")
	return after
}

// note notes the name of a row, and whose its operation is.
func (t *table) note(r Route) {
	key := familyOperation{r.API.Name(), r.Operation}
	if t.names[key] == "" {
		t.names[key] = r.Operation.Method + " " + r.Path
	}
	owner := r.API
	switch before, known := t.owners[r.Operation.Name]; {
	case owner == api.API(api.OpenAI{}), owner == api.API(api.OpenRouter{}), known && before != owner:
		owner = nil
	}
	t.owners[r.Operation.Name] = owner
}

// RouteNames returns all names that routeName has for the table, sorted.
func RouteNames() []string {
	return slices.Compact(slices.Sorted(maps.Values(theTable().names)))
}

// routeName names an endpoint of a family in records, metrics and logs: its method and its first
// path in the table. An endpoint that the site's own routes serve for another family has its own
// name.
func routeName(a api.API, o *Operation) string {
	if name := theTable().names[familyOperation{a.Name(), o}]; name != "" {
		return name
	}
	return o.Method + " " + o.Name
}
