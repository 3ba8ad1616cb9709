package identity

import (
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/textproto"
	"net/url"
	"regexp"
	"slices"
	"strings"

	"github.com/caddyserver/caddy/v2"
	"github.com/caddyserver/caddy/v2/caddyconfig/caddyfile"
	"github.com/caddyserver/caddy/v2/modules/caddyhttp"

	people "github.com/gatehouse-proxy/gatehouse/internal/features/identity"
)

const (
	certificatePrefix = "http.request.tls.client."
	headerPrefix      = "http.request.header."
	answerPrefix      = "http.reverse_proxy.header."
)

// setByCaddy begin placeholders that no client can set: of Caddy's authentication, of a client
// certificate (only of one that was verified, see placeholderValues), of the answer to
// forward_auth, and variables of the configuration.
var setByCaddy = []string{"http.auth.", certificatePrefix, answerPrefix, "http.vars."}

// onePlaceholder is a text that is one placeholder, by its full name.
var onePlaceholder = regexp.MustCompile(`^\{http\.[^{}]+\}$`)

// isAmbient reports whether Caddy says who somebody is, not a token.
func (i *Identity) isAmbient() bool { return strings.HasPrefix(i.User, "{") }

// readGroups reads the placeholder, and what stands between groups.
func (i *Identity) readGroups(d *caddyfile.Dispenser) error {
	args := d.RemainingArgs()
	if len(args) == 0 || len(args) > 2 {
		return d.ArgErr()
	}
	if i.Groups = args[0]; len(args) == 2 {
		i.GroupsSeparator = args[1]
	}
	return nil
}

// ambient checks how Caddy names somebody. Nil: tokens do.
func (i *Identity) ambient() (a *people.Ambient, err error) {
	if !i.isAmbient() {
		if i.Groups != "" || i.GroupsSeparator != "" || i.FromTrustedProxies {
			return nil, errors.New("groups and from_trusted_proxies belong to an identity whose user is a placeholder, such as {http.auth.user.id}")
		}
		return nil, nil
	}
	a = &people.Ambient{Separator: i.GroupsSeparator}
	if a.User, err = i.placeholder("user", i.User); err == nil && i.Groups != "" {
		a.Groups, err = i.placeholder("groups", i.Groups)
		a.OfCertificate = a.Groups == certificatePrefix+"subject" || a.Groups == certificatePrefix+"issuer"
	}
	return a, err
}

// placeholder returns the name of a placeholder that clients cannot set.
func (i *Identity) placeholder(option, text string) (string, error) {
	if !onePlaceholder.MatchString(text) {
		return "", fmt.Errorf("%s %q: want one placeholder by its full name, as in {http.auth.user.id} or {http.request.tls.client.subject}: "+
			"the short names of sites are not known here", option, text)
	}
	name := text[1 : len(text)-1]
	header, isHeader := strings.CutPrefix(name, headerPrefix)
	switch {
	case isHeader && i.FromTrustedProxies:
		return headerPrefix + textproto.CanonicalMIMEHeaderKey(header), nil
	case isHeader:
		return "", fmt.Errorf("%s %s: a client can send this header and be anybody. Of an answer to forward_auth, use {%s%s}, which no client can set; "+
			"of a proxy in front that is in trusted_proxies and replaces what clients send, say so by from_trusted_proxies",
			option, text, answerPrefix, textproto.CanonicalMIMEHeaderKey(header))
	case !slices.ContainsFunc(setByCaddy, func(prefix string) bool { return strings.HasPrefix(name, prefix) }):
		return "", fmt.Errorf("%s %s: a client can choose what this says and be anybody: want one of {%s*}", option, text, strings.Join(setByCaddy, "*}, {"))
	}
	if header, ok := strings.CutPrefix(name, answerPrefix); ok { // Caddy has them as HTTP/1.1 spells them
		name = answerPrefix + textproto.CanonicalMIMEHeaderKey(header)
	}
	return name, nil
}

// placeholderValues returns the values of a placeholder. A certificate counts if Caddy has verified
// it: with client_auth in the modes request and require, anybody can make one. A header counts if a
// trusted proxy has sent it.
func placeholderValues(r *http.Request, name string) []string {
	replacer, ok := r.Context().Value(caddy.ReplacerCtxKey).(*caddy.Replacer)
	if !ok {
		return nil
	}
	switch {
	case strings.HasPrefix(name, certificatePrefix) && (r.TLS == nil || len(r.TLS.VerifiedChains) == 0):
		return nil
	case strings.HasPrefix(name, headerPrefix):
		if trusted, _ := caddyhttp.GetVar(r.Context(), caddyhttp.TrustedProxyVarKey).(bool); !trusted {
			return nil
		}
		return r.Header.Values(name[len(headerPrefix):])
	}
	value, _ := replacer.Get(name)
	switch value := value.(type) {
	case nil:
		return nil
	case []string:
		return value
	case []any:
		return texts(value)
	case []*url.URL: // of a certificate, as the next
		return texts(value)
	case []net.IP:
		return texts(value)
	}
	return []string{caddy.ToString(value)}
}

func texts[T any](values []T) (all []string) {
	for _, value := range values {
		all = append(all, caddy.ToString(value))
	}
	return all
}
