package check

import (
	"maps"
	"reflect"
	"slices"
	"strings"

	"github.com/caddyserver/caddy/v2"
	"github.com/caddyserver/caddy/v2/modules/caddyhttp"
	"github.com/caddyserver/caddy/v2/modules/logging"
	"go.uber.org/zap"

	"github.com/gatehouse-proxy/gatehouse/handlers"
)

// apiKeyFields are the fields of Caddy's access log that a filter must take out or change, each by itself
// or with what it is in: the headers with the keys that the SDKs of Anthropic and Google send, the
// subprotocols of a WebSocket, where a browser that opens a Realtime session has its key, and the query, where callers of Google's API may have theirs. Caddy itself redacts Authorization,
// Proxy-Authorization and cookies.
var apiKeyFields = []struct{ name, advice string }{
	{"request>headers>X-Api-Key", "delete"}, {"request>headers>X-Goog-Api-Key", "delete"},
	{"request>headers>Sec-Websocket-Protocol", "delete"}, {uriField, "query { replace key REDACTED }"},
}

const (
	uriField = "request>uri"
	// keyParameter is the parameter of the query that has a key.
	keyParameter = "key"

	loggedKeys = "the access log would show keys that clients send as X-Api-Key, X-Goog-Api-Key, Sec-WebSocket-Protocol or ?key="
)

// filterAdvice returns what a log needs.
func filterAdvice() string {
	var lines []string
	for _, f := range apiKeyFields {
		lines = append(lines, f.name+" "+f.advice)
	}
	return "format filter { " + strings.Join(lines, ", ") + " }"
}

// WarnOfLoggedKeys warns of each access log that would show the keys of callers. Requests for a host
// that no site names are in the default log, and a client that has the wrong address sends its key too.
func WarnOfLoggedKeys(ctx caddy.Context, logger *zap.Logger) {
	app, err := ctx.AppIfConfigured("http")
	if err != nil {
		return // without the app there are no sites
	}
	servers := app.(*caddyhttp.App).Servers
	for _, name := range slices.Sorted(maps.Keys(servers)) {
		server := servers[name]
		if server.Logs == nil || !servesAPI(server) {
			continue
		}
		if logs := unfilteredLogs(configuredLogs(ctx), accessLoggers(server.Logs)); len(logs) > 0 {
			logger.Warn(loggedKeys+"; each of these logs needs: "+filterAdvice(),
				zap.String("server", name), zap.Strings("logs", logs))
		}
	}
}

// servesAPI reports whether a server has a handler of ours that reads keys.
func servesAPI(s *caddyhttp.Server) bool {
	routes := slices.Clone(s.Routes)
	for _, named := range s.NamedRoutes {
		routes = append(routes, *named)
	}
	return readsKeys(routes)
}

func readsKeys(routes caddyhttp.RouteList) bool {
	for _, route := range routes {
		for _, handler := range route.Handlers {
			switch h := handler.(type) {
			case *handlers.Gatehouse, *handlers.Endpoint, *handlers.Auth:
				return true
			case *caddyhttp.Subroute:
				if readsKeys(h.Routes) {
					return true
				}
			}
		}
	}
	return false
}

// accessLoggers returns the names of the loggers of a server's requests.
func accessLoggers(c *caddyhttp.ServerLogConfig) (names []string) {
	add := func(name string) {
		if name = strings.TrimSuffix("http.log.access."+name, "."); !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	if !c.SkipUnmappedHosts {
		add(c.DefaultLoggerName)
	}
	for _, host := range slices.Sorted(maps.Keys(c.LoggerNames)) {
		for _, name := range c.LoggerNames[host] {
			add(name)
		}
	}
	return names
}

// unfilteredLogs returns the names of the logs that take entries of one of the loggers as they are.
func unfilteredLogs(logs map[string]customLog, loggers []string) (found []string) {
	for _, name := range slices.Sorted(maps.Keys(logs)) {
		if log := logs[name]; !log.filtered && slices.ContainsFunc(loggers, log.takes) {
			found = append(found, name)
		}
	}
	return found
}

// customLog is what matters of a log.
type customLog struct {
	include, exclude []string // names of loggers
	filtered         bool
}

// takes reports whether the log takes entries of a logger: the longest name that fits decides, as in
// Caddy.
func (l customLog) takes(logger string) bool {
	longest := func(names []string) (n int) {
		for _, name := range names {
			if name == "*" || strings.HasPrefix(logger+".", name+".") {
				n = max(n, len(name))
			}
		}
		return n
	}
	accepted, rejected := longest(l.include), longest(l.exclude)
	return (accepted > 0 || len(l.include) == 0) && (rejected == 0 || accepted > rejected)
}

// configuredLogs returns the logs of the configuration. Caddy shows them to no module, so they are
// looked up by reflection, which only reads; with a Caddy that has them elsewhere there are none.
func configuredLogs(ctx caddy.Context) map[string]customLog {
	found := map[string]customLog{}
	logs := field(reflect.ValueOf(ctx), "cfg", "Logging", "Logs")
	if logs.Kind() != reflect.Map {
		return found
	}
	for entries := logs.MapRange(); entries.Next(); {
		log := entries.Value()
		found[entries.Key().String()] = customLog{
			include: texts(field(log, "Include")), exclude: texts(field(log, "Exclude")), filtered: filtersKeys(field(log, "encoder")),
		}
	}
	return found
}

// maxEncoders is how many encoders inside each other are looked at.
const maxEncoders = 8

// filtersKeys reports whether an encoder, or those that it wraps, have filters for the keys.
func filtersKeys(encoder reflect.Value) bool {
	var filtered []string
	for range maxEncoders {
		if fields := field(encoder, "Fields"); fields.Kind() == reflect.Map {
			for entries := fields.MapRange(); entries.Next(); {
				if name := entries.Key().String(); name != uriField || concealsKey(entries.Value()) {
					filtered = append(filtered, name)
				}
			}
		}
		encoder = field(encoder, "wrapped")
	}
	for _, f := range apiKeyFields {
		if !slices.ContainsFunc(filtered, func(outer string) bool { return f.name == outer || strings.HasPrefix(f.name, outer+">") }) {
			return false
		}
	}
	return true
}

// concealsKey reports whether a filter of the URI takes the key out: with the whole, or by its parameter.
func concealsKey(filter reflect.Value) bool {
	for filter.Kind() == reflect.Interface {
		filter = filter.Elem()
	}
	switch filter.Type() {
	case reflect.TypeFor[*logging.DeleteFilter](), reflect.TypeFor[*logging.ReplaceFilter](), reflect.TypeFor[*logging.HashFilter]():
		return true
	case reflect.TypeFor[*logging.QueryFilter]():
		actions := field(filter, "Actions")
		for i := range actions.Len() {
			if field(actions.Index(i), "Parameter").String() == keyParameter {
				return true
			}
		}
	}
	return false
}

// field returns a field of a struct by its path, the zero Value if there is none.
func field(v reflect.Value, path ...string) reflect.Value {
	for _, name := range path {
		for v.Kind() == reflect.Pointer || v.Kind() == reflect.Interface {
			v = v.Elem()
		}
		if v.Kind() != reflect.Struct {
			return reflect.Value{}
		}
		v = v.FieldByName(name)
	}
	for v.Kind() == reflect.Pointer || v.Kind() == reflect.Interface {
		v = v.Elem()
	}
	return v
}

func texts(list reflect.Value) (found []string) {
	if list.Kind() != reflect.Slice {
		return nil
	}
	for i := range list.Len() {
		found = append(found, list.Index(i).String())
	}
	return found
}
