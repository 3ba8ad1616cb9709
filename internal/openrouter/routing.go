package openrouter

import (
	"slices"
	"strconv"
	"strings"

	"github.com/gatehouse-proxy/gatehouse/internal/apierror"
	"github.com/gatehouse-proxy/gatehouse/internal/failover"
	"github.com/gatehouse-proxy/gatehouse/internal/jsonscan"
)

const (
	// maxModels bounds the further models of a request: a call has failover.MaxAttempts at most.
	maxModels = 8
	// maxFallbacks is the bound of the Messages API.
	maxFallbacks = 3
)

// The suffixes of models that sort the targets.
const (
	floorSuffix = ":floor" // sort: price
	nitroSuffix = ":nitro" // sort: throughput
)

// ParseRouting reads the routing fields of a request: models, route and provider, and with messages
// the `fallbacks` of the Messages API. It returns nil if there is none. Errors are 400; what is wrong
// with `provider` is the Refusal of the result, because it is not for the gateway if the model is a
// plain one of OpenRouter.
func ParseRouting(b *jsonscan.Body, messages bool) (*failover.Routing, error) {
	var r *failover.Routing
	some := func() *failover.Routing {
		if r == nil {
			r = new(failover.Routing)
		}
		return r
	}
	listed := ""
	for i, m := range b.Members() {
		key, value := m.Key(b.Data()), b.Value(i)
		if m.Kind == 'n' {
			continue
		}
		var err error
		switch string(key) {
		case "models", "fallbacks":
			field := string(key)
			if field == "fallbacks" && !messages {
				continue
			}
			if listed != "" {
				return nil, refuse("models", "%q and %q exclude each other", "models", "fallbacks")
			}
			listed = field
			if field == "models" {
				some().Models, err = stringList(value, field, maxModels)
			} else {
				some().Models, err = parseFallbacks(value)
			}
		case "route": // deprecated; models has the same effect without it
			if m.Kind != '"' {
				err = refuse("route", "%q must be a string", "route")
			}
		case "provider":
			some().Refusal = parsePreferences(some(), value)
		}
		if err != nil {
			return nil, err
		}
	}
	return r, nil
}

// MessagesDropped are the fields of a Messages request that no provider gets: the gateway asks the
// models itself.
var MessagesDropped = []string{"models", "route", "fallbacks"}

// EncodeMessagesFields prepares the routing fields of a Messages request for its provider: those of
// [MessagesDropped] are left out, and only OpenRouter knows the others. The error is a
// [*apierror.Error].
func EncodeMessagesFields(b *jsonscan.Body, openRouter bool) error {
	for i, m := range b.Members() {
		name := string(m.Key(b.Data()))
		if slices.Contains(MessagesDropped, name) || name == "provider" && !openRouter {
			b.Drop(i)
		}
	}
	if openRouter {
		return EncodeResponsesFields(b, true)
	}
	return nil
}

// CutSort removes a suffix that sorts targets from a model's name, and notes it. ok is false without
// one. Try the name with it first: a provider may have a model of that name.
func CutSort(r *failover.Routing, name string) (model string, ok bool) {
	if model, ok = strings.CutSuffix(name, floorSuffix); ok {
		r.ByPrice = true
		return model, true
	}
	if model, ok = strings.CutSuffix(name, nitroSuffix); ok && r.Refusal == nil {
		r.Refusal = unsupported("model", "the suffix %q (sort by throughput) is not supported by this gateway yet; leave it out, or use %q", nitroSuffix, floorSuffix)
	}
	return model, ok
}

// parseFallbacks reads the list [{"model"}] of the Messages API.
func parseFallbacks(value []byte) (models []string, err error) {
	const field = "fallbacks"
	if value[0] != '[' {
		return nil, unsupported(field, "%q must be a list of objects with a model each", field)
	}
	for span := range jsonscan.AllElements(value) {
		at := field + "[" + strconv.Itoa(len(models)) + "]"
		element := span.Value(value)
		if len(models) == maxFallbacks {
			return nil, refuse(field, "%q has more than %d entries", field, maxFallbacks)
		}
		if element[0] != '{' {
			return nil, refuse(at, "%q must be an object with a model", at)
		}
		model := ""
		for _, m := range jsonscan.Members(element, nil) {
			name := string(m.DecodedKey(element))
			if name != "model" {
				return nil, unsupported(at+"."+name, "%q is not supported by this gateway: a fallback has only a model", at+"."+name)
			}
			model, _ = jsonscan.String(m.Value(element))
		}
		if model == "" {
			return nil, refuse(at+".model", "%q must be the name of a model", at+".model")
		}
		models = append(models, model)
	}
	return models, nil
}

func stringList(value []byte, field string, most int) (list []string, err error) {
	ok := value[0] == '['
	if ok {
		for span := range jsonscan.AllElements(value) {
			text, isString := jsonscan.String(span.Value(value))
			if ok = isString && text != ""; !ok {
				break
			}
			if list = append(list, text); len(list) > most {
				return nil, refuse(field, "%q has more than %d entries", field, most)
			}
		}
	}
	if !ok {
		return nil, refuse(field, "%q must be a list of strings", field)
	}
	return slices.Clip(list), nil
}

func refuse(field, format string, args ...any) error {
	return apierror.New(apierror.InvalidValue, format, args...).WithParam(field)
}

func unsupported(field, format string, args ...any) error {
	return apierror.New(apierror.UnsupportedParameter, format, args...).WithParam(field)
}
