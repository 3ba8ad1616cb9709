package check

import (
	"maps"
	"reflect"
	"slices"
	"strings"

	"github.com/caddyserver/caddy/v2"
	"github.com/caddyserver/caddy/v2/modules/caddyhttp"
	"go.uber.org/zap"

	"github.com/gatehouse-proxy/gatehouse/handlers"
)

// apiKeyFields are the fields of Caddy's access log that a filter must take out or change: the headers
// with the keys that the SDKs of Anthropic and Google send, each by itself or with what it is in. Caddy
// itself redacts Authorization, Proxy-Authorization and cookies.
var apiKeyFields = []string{"request>headers>X-Api-Key", "request>headers>X-Goog-Api-Key"}

// filterAdvice is what a log needs.
var filterAdvice = "format filter { " + strings.Join(apiKeyFields, " delete, ") + " delete }"

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
			logger.Warn("the access log would show keys that clients send as X-Api-Key or X-Goog-Api-Key; each of these logs needs: "+filterAdvice,
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

// filtersKeys reports whether an encoder, or those that it wraps, have filters for the headers.
func filtersKeys(encoder reflect.Value) bool {
	var filtered []string
	for range maxEncoders {
		if fields := field(encoder, "Fields"); fields.Kind() == reflect.Map {
			for _, key := range fields.MapKeys() {
				filtered = append(filtered, key.String())
			}
		}
		encoder = field(encoder, "wrapped")
	}
	return !slices.ContainsFunc(apiKeyFields, func(name string) bool {
		return !slices.ContainsFunc(filtered, func(outer string) bool { return name == outer || strings.HasPrefix(name, outer+">") })
	})
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
