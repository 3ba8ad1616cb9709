package authserver

import (
	"context"
	"crypto/hmac"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/netip"
	"net/url"
	"slices"
	"strings"
	"time"
)

const (
	// maxClientID bounds the ID of a client, in bytes: it is in a query.
	maxClientID = 2 << 10
	// maxRedirects bounds the addresses of a client, and maxRedirect each, in bytes.
	maxRedirects, maxRedirect = 10, 512
	// clientPrefix begins the ID of a client that has registered.
	clientPrefix = "ghp-"
)

// client is a program that sends browsers to the gateway. It has no secret: who has its code proves
// itself by the verifier.
type client struct {
	id        string
	name      string // as it says itself, cleaned
	host      string // of its metadata document, "" without
	redirects []string
}

// clients know clients by their IDs. There are three kinds:
//
//	of the configuration  any address to return to, also of the program's own scheme
//	https://…             a metadata document, see documents
//	ghp-…                 the registration itself, with a MAC: nothing is kept of it
type clients struct {
	configured map[string]client
	hosts      []string
	keys       *secretKeys
	documents  *documents // nil: none is fetched
}

// addresses is whom the bounds count.
type addresses struct {
	from netip.Addr
	now  time.Time
}

func newClients(c *Config, keys *secretKeys) (*clients, error) {
	all := &clients{configured: map[string]client{}, hosts: c.ClientHosts, keys: keys}
	if !c.NoDocuments {
		all.documents = newDocuments(c.Documents)
	}
	for id, redirects := range c.Clients {
		if id == "" || clean(id, maxClient) != id || strings.HasPrefix(id, clientPrefix) || strings.Contains(id, ":") || len(redirects) == 0 {
			return nil, fmt.Errorf("client %q: want a name, and the addresses to which browsers return", id)
		}
		for _, text := range redirects {
			u, err := url.Parse(text)
			if err != nil || u.Scheme == "" || u.Fragment != "" || u.User != nil || slices.Contains(dangerous, u.Scheme) ||
				(u.Scheme == "https" || u.Scheme == "http") && checkRedirect(text, nil) != nil {
				return nil, fmt.Errorf("client %q: %q is no address to which browsers can return", id, text)
			}
		}
		all.configured[id] = client{id: id, name: id, redirects: redirects}
	}
	return all, nil
}

// dangerous are schemes that browsers act on themselves.
var dangerous = []string{"javascript", "data", "vbscript", "file", "blob", "about", "view-source"}

// checkRedirect refuses an address to which no browser is sent: a client that nobody has configured
// is on the person's machine (RFC 8252, section 7.3), or at an https host.
func checkRedirect(text string, hosts []string) error {
	u, err := url.Parse(text)
	switch {
	case err != nil || !isURI(text, maxRedirect) || !isPlain(u.Host) || u.User != nil:
	case u.Scheme == "http" && isLoopback(u.Hostname()):
		return nil
	case u.Scheme == "https" && mayBeAt(hosts, u.Hostname()):
		return nil
	case u.Scheme == "https":
		return fmt.Errorf("the operator of the gateway lets no client be at %q", u.Hostname())
	}
	return fmt.Errorf("%q: want an https address, or http on this machine (127.0.0.1, [::1], localhost), without user and fragment; "+
		"another scheme only for a client of the configuration", clean(text, maxRedirect))
}

// noURI are signs that no URI has (RFC 3986, appendix A), or that begin a fragment.
const noURI = " \"<>\\^`{|}#"

// isURI reports whether a text has only signs of a URI without a fragment, at most so many.
func isURI(text string, most int) bool {
	return clean(text, most) == text && !strings.ContainsAny(text, noURI)
}

// isPlain reports whether a host reads as what it is: url.Parse decodes %E2%81%84 in it, which
// looks like a slash.
func isPlain(host string) bool {
	return host != "" && isURI(host, maxRedirect) && !strings.Contains(host, "%")
}

func mayBeAt(hosts []string, host string) bool {
	return len(hosts) == 0 || slices.ContainsFunc(hosts, func(h string) bool { return strings.EqualFold(h, host) })
}

// find returns a client by its ID. The error is a refusal.
func (c *clients) find(ctx context.Context, id string, a addresses) (found client, err error) {
	found, configured := c.configured[id]
	switch {
	case configured:
		return found, nil
	case id == "" || len(id) > maxClientID:
		err = errors.New("the client_id is missing or too long")
	case strings.HasPrefix(id, "https://") && c.documents == nil:
		err = errors.New("the gateway fetches no metadata documents: the program has to register")
	case strings.HasPrefix(id, "https://"):
		found, err = c.documents.find(ctx, id, c.hosts, a)
	default:
		found, err = c.open(id)
	}
	for _, text := range found.redirects {
		if err == nil {
			err = checkRedirect(text, c.hosts)
		}
	}
	var r *refusal
	if err != nil && !errors.As(err, &r) {
		err = &refusal{status: http.StatusUnauthorized, code: invalidClient, text: err.Error()}
	}
	return found, err
}

// redirect returns where the browser goes back to: one of the client's addresses, exactly, but for
// the port of one on the person's machine (RFC 8252, section 7.3).
func (c *client) redirect(asked string) (string, error) {
	if asked == "" && len(c.redirects) == 1 {
		return c.redirects[0], nil
	}
	for _, own := range c.redirects {
		if own == asked || asked != "" && onLoopback(own) != "" && onLoopback(own) == onLoopback(asked) {
			return asked, nil
		}
	}
	return "", badRequest(invalidRequest, "the redirect_uri is none of this client")
}

// onLoopback returns an address on the person's machine without its port, "" for another one.
func onLoopback(text string) string {
	u, err := url.Parse(text)
	if err != nil || u.Scheme != "http" || !isLoopback(u.Hostname()) || checkRedirect(text, nil) != nil {
		return ""
	}
	if strings.Contains(u.Host, ":") {
		u.Host = strings.TrimSuffix(u.Host, ":"+u.Port())
	}
	return u.String()
}

// registration is what the ID of a registered client has.
type registration struct {
	Name      string   `json:"n,omitempty"`
	Redirects []string `json:"r"`
}

func (c *clients) open(id string) (client, error) {
	unknown := errors.New("the client_id is none of this gateway: the program has to register again")
	text, tag, ok := strings.Cut(strings.TrimPrefix(id, clientPrefix), ".")
	body, err := base64.RawURLEncoding.Strict().DecodeString(text)
	sum, tagErr := base64.RawURLEncoding.Strict().DecodeString(tag)
	known := slices.ContainsFunc(c.keys.tags, func(key []byte) bool { return hmac.Equal(sum, tagOf(key, clientPrefix, body)) })
	var r registration
	if !ok || !strings.HasPrefix(id, clientPrefix) || err != nil || tagErr != nil || !known || json.Unmarshal(body, &r) != nil {
		return client{}, unknown
	}
	return client{id: id, name: r.Name, redirects: r.Redirects}, nil
}

// metadata is what a client says of itself: in a document, or to register (RFC 7591, section 2).
type metadata struct {
	ID        string   `json:"client_id"`
	Name      string   `json:"client_name"`
	Redirects []string `json:"redirect_uris"`
	Auth      string   `json:"token_endpoint_auth_method"`
}

// check returns an error for addresses that are none.
func (m *metadata) check(hosts []string) error {
	if len(m.Redirects) == 0 || len(m.Redirects) > maxRedirects {
		return fmt.Errorf("redirect_uris: want from one to %d", maxRedirects)
	}
	for _, text := range m.Redirects {
		if err := checkRedirect(text, hosts); err != nil {
			return err
		}
	}
	return nil
}

// nameOf is the name of a client as pages show it: no text with which it could deceive.
func nameOf(text string) string {
	const signs = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789 ._-"
	return strings.TrimSpace(clean(strings.Map(func(r rune) rune {
		if strings.ContainsRune(signs, r) {
			return r
		}
		return -1
	}, text), maxClientName))
}

// maxClientName bounds the name of a client, in characters.
const maxClientName = 40

// registered is the answer to a client that has registered (RFC 7591, section 3.2.1).
type registered struct {
	ID        string   `json:"client_id"`
	Issued    int64    `json:"client_id_issued_at"`
	Name      string   `json:"client_name,omitempty"`
	Redirects []string `json:"redirect_uris"`
	Grants    []string `json:"grant_types"`
	Responses []string `json:"response_types"`
	Auth      string   `json:"token_endpoint_auth_method"`
}

// register registers a client. One that wants a secret gets none: the answer may have another
// token_endpoint_auth_method than was asked for.
func (c *clients) register(body io.Reader, now time.Time) (*registered, error) {
	const code = "invalid_client_metadata"
	text, err := io.ReadAll(io.LimitReader(body, maxForm+1))
	var m metadata
	if err != nil || len(text) > maxForm || json.Unmarshal(text, &m) != nil {
		return nil, badRequest(code, "want a JSON object of RFC 7591, of at most 16 KiB")
	}
	if err := m.check(c.hosts); err != nil {
		return nil, badRequest("invalid_redirect_uri", err.Error())
	}
	own := registration{nameOf(m.Name), m.Redirects}
	if text, err = json.Marshal(own); err != nil {
		return nil, err
	}
	id := clientPrefix + base64.RawURLEncoding.EncodeToString(text) + "." +
		base64.RawURLEncoding.EncodeToString(tagOf(c.keys.tags[0], clientPrefix, text))
	if len(id) > maxClientID {
		return nil, badRequest(code, "the redirect_uris are too long together")
	}
	return &registered{id, now.Unix(), own.Name, own.Redirects, []string{codeGrant, refreshGrant}, []string{"code"}, "none"}, nil
}
