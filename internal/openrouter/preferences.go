package openrouter

import (
	"bytes"
	"math"
	"strconv"
	"strings"

	"github.com/gatehouse-proxy/gatehouse/internal/failover"
	"github.com/gatehouse-proxy/gatehouse/internal/jsonscan"
)

// maxSlugs bounds a list of providers in a request; no gateway has so many.
const maxSlugs = 256

// parsePreferences reads `provider`, a closed set of fields.
func parsePreferences(r *failover.Routing, object []byte) error {
	if object[0] != '{' {
		return refuse("provider", "%q must be an object", "provider")
	}
	var forward []byte
	keep := func(name string, value []byte) {
		forward = append(forward, ","...)
		forward = append(append(jsonscan.AppendString(forward, name), ':'), value...)
	}
	routerOnly := func(name string, value []byte) {
		r.RouterOnly = append(r.RouterOnly, "provider."+name)
		keep(name, value)
	}
	seen := map[string]bool{}
	for _, m := range jsonscan.Members(object, nil) {
		name, value := string(m.DecodedKey(object)), m.Value(object)
		field := "provider." + name
		if seen[name] { // it depends on the reader which of them counts
			return refuse(field, "%q is given twice", field)
		}
		seen[name] = true
		if m.Kind == 'n' {
			continue
		}
		var err error
		switch name {
		case "order":
			r.Order, err = slugs(value, field)
		case "only":
			r.Only, err = slugs(value, field)
		case "ignore":
			r.Ignore, err = slugs(value, field)
		case "allow_fallbacks":
			var allowed bool
			allowed, err = boolean(value, field)
			r.NoFallbacks = !allowed
		case "sort":
			err = parseSort(r, value)
		case "max_price":
			if err = parseMaxPrice(r, value); err == nil {
				keep(name, value)
			}
		case "zdr", "enforce_distillable_text":
			var on bool
			if on, err = boolean(value, field); on {
				routerOnly(name, value)
			}
		case "data_collection":
			switch text, _ := jsonscan.String(value); text {
			case "allow":
			case "deny":
				routerOnly(name, value)
			default:
				err = refuse(field, "%q must be %q or %q", field, "allow", "deny")
			}
		case "quantizations":
			var names []string
			if names, err = stringList(value, field, maxSlugs); len(names) > 0 {
				routerOnly(name, value)
			}
		case "require_parameters":
			var on bool
			if on, err = boolean(value, field); on {
				err = unsupported(field, "%q is not supported by this gateway yet: a parameter that a provider does not know is refused, or named in the answer's X-Gatehouse-Left-Out", field)
			}
		case "preferred_min_throughput", "preferred_max_latency":
			err = unsupported(field, "%q is not supported by this gateway yet; leave it out", field)
		default:
			err = unsupported(field, "%q is not known", field)
		}
		if err != nil {
			return err
		}
	}
	if len(forward) > 0 {
		forward[0] = '{'
		r.Forward = append(forward, '}')
	}
	return nil
}

// parseSort reads "price" or {"by": "price", "partition": "model" or "none"}.
func parseSort(r *failover.Routing, value []byte) error {
	const field = "provider.sort"
	by, partition := value, "model"
	if value[0] == '{' {
		by = nil
		for _, m := range jsonscan.Members(value, nil) {
			switch name := string(m.DecodedKey(value)); {
			case m.Kind == 'n':
			case name == "by":
				by = m.Value(value)
			case name == "partition":
				if partition, _ = jsonscan.String(m.Value(value)); partition != "model" && partition != "none" {
					return refuse(field+".partition", "%q must be %q or %q", field+".partition", "model", "none")
				}
			default:
				return unsupported(field+"."+name, "%q is not known", field+"."+name)
			}
		}
		if by == nil {
			return nil
		}
	}
	switch text, _ := jsonscan.String(by); text {
	case "price":
		r.ByPrice, r.AllByPrice = true, partition == "none"
	case "throughput", "latency":
		return unsupported(field, "%q: %q is not supported by this gateway yet; %q is", field, text, "price")
	default:
		return refuse(field, "%q must be %q", field, "price")
	}
	return nil
}

// parseMaxPrice reads prices in USD per million tokens, as numbers or strings. The catalog has no
// prices of a request, an image or audio that could be compared.
func parseMaxPrice(r *failover.Routing, value []byte) error {
	const field = "provider.max_price"
	if value[0] != '{' {
		return refuse(field, "%q must be an object", field)
	}
	seen := map[string]bool{}
	for _, m := range jsonscan.Members(value, nil) {
		name := string(m.DecodedKey(value))
		at := field + "." + name
		if seen[name] {
			return refuse(at, "%q is given twice", at)
		}
		seen[name] = true
		if m.Kind == 'n' {
			continue
		}
		nano, ok := nanoPerMillion(m.Value(value))
		if !ok {
			return refuse(at, "%q must be a price in USD, as a number or a string", at)
		}
		switch name {
		case "prompt":
			r.MaxPrompt = &nano
		case "completion":
			r.MaxCompletion = &nano
		case "request", "image", "audio":
			r.RouterOnly = append(r.RouterOnly, at)
		default:
			return unsupported(at, "%q is not known", at)
		}
	}
	return nil
}

// nanoPerMillion returns a decimal number of USD, or a string of one, in nano-USD.
func nanoPerMillion(value []byte) (nano int64, ok bool) {
	text := string(bytes.Trim(value, `"`))
	if text == "" || strings.Trim(text, "0123456789.eE+-") != "" {
		return 0, false
	}
	usd, err := strconv.ParseFloat(text, 64)
	if err != nil || usd < 0 {
		return 0, false
	}
	return int64(min(math.Round(usd*nanoPerUSD), math.MaxInt64/2)), true
}

// slugs reads a list of providers. They are compared in lower case: older clients send the names that
// OpenRouter shows ("OpenAI").
func slugs(value []byte, field string) ([]string, error) {
	names, err := stringList(value, field, maxSlugs)
	for i := range names {
		names[i] = strings.ToLower(names[i])
	}
	return names, err
}

func boolean(value []byte, field string) (bool, error) {
	switch string(value) {
	case "true":
		return true, nil
	case "false":
		return false, nil
	}
	return false, refuse(field, "%q must be true or false", field)
}
