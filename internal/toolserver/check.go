package toolserver

import (
	"fmt"
	"net/http"
	"slices"
	"strings"

	"golang.org/x/net/http/httpguts"

	"github.com/gatehouse-proxy/gatehouse/internal/pattern"
	"github.com/gatehouse-proxy/gatehouse/internal/provider"
)

// maxForward bounds the fields of a client's header that are passed on.
const maxForward = 32

// protocolField reports whether a header field belongs to MCP, or is one that the gateway sets itself.
func protocolField(name string) bool {
	return strings.HasPrefix(name, "Mcp-") || name == "Last-Event-Id" || name == "User-Agent" || name == "Traceparent" || name == "Origin"
}

// checkForward refuses fields that cannot be passed on, and those that have a credential: MCP forbids to
// pass a client's on. Their names become canonical.
func checkForward(names []string, own []provider.HeaderField) (checked []string, err error) {
	if len(names) > maxForward {
		return nil, fmt.Errorf("forward_header: at most %d fields", maxForward)
	}
	for _, given := range names {
		name := http.CanonicalHeaderKey(given)
		switch {
		case !httpguts.ValidHeaderFieldName(given):
			return nil, fmt.Errorf("forward_header %q: this is not the name of a header field", given)
		case provider.TransportField(name) || protocolField(name):
			return nil, fmt.Errorf("forward_header %s: the gateway sets it itself, or it belongs to the connection", given)
		case provider.NamesSecret(name):
			return nil, fmt.Errorf("forward_header %s: a credential of the client is never passed on; the server gets that of api_key, oauth, auth or header", given)
		case slices.ContainsFunc(own, func(f provider.HeaderField) bool { return f.Name == name }):
			return nil, fmt.Errorf("forward_header %s: header sets it; give only one of them", given)
		case slices.Contains(checked, name):
			return nil, fmt.Errorf("forward_header %s is given twice", given)
		}
		checked = append(checked, name)
	}
	return checked, nil
}

func (r Rights) check() error {
	for _, p := range slices.Concat(r.Allow, r.Deny) {
		if err := pattern.Valid(p); err != nil {
			return fmt.Errorf("tools: %w", err)
		}
	}
	return nil
}

func checkPrices(prices []Price) error {
	for i, p := range prices {
		if err := pattern.Valid(p.Pattern); err != nil {
			return fmt.Errorf("price: %w", err)
		}
		if p.Nano < 0 {
			return fmt.Errorf("price %s: a negative price", p.Pattern)
		}
		if slices.ContainsFunc(prices[:i], func(other Price) bool { return other.Pattern == p.Pattern }) {
			return fmt.Errorf("price %s is given twice", p.Pattern)
		}
	}
	return nil
}
