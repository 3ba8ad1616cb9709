package identity_test

import (
	"strings"
	"testing"
)

// What a client can set names nobody, unless a proxy in front replaces it.
func TestPlaceholdersThatNameSomebody(t *testing.T) {
	const ambient = "identity sso {\nuser USER\nMORE\nrole r\n}\n"
	for _, c := range []struct{ user, more, why string }{
		{"{http.auth.user.id}", "", ""},
		{"{http.auth.user.id}", "groups {http.auth.user.groups}\nmax_life 10m", ""},
		{"{http.request.tls.client.san.emails.0}", "groups {http.request.tls.client.subject}", ""},
		{"{http.reverse_proxy.header.remote-user}", "groups {http.reverse_proxy.header.Remote-Groups} |", ""},
		{"{http.vars.person}", "", ""},
		{"{http.request.header.Remote-User}", "", "use {http.reverse_proxy.header.Remote-User}, which no client can set"},
		{"{http.request.header.remote-user}", "from_trusted_proxies", ""},
		{"{http.auth.user.id}", "groups {http.request.header.Groups}", "groups {http.request.header.Groups}: a client can send this header"},
		{"{http.request.cookie.user}", "from_trusted_proxies", "a client can choose what this says"},
		{"{http.request.uri.query.user}", "", "a client can choose what this says"},
		{"{http.request.tls.server_name}", "", "a client can choose what this says"},
		{"{http.regexp.user.1}", "", "a client can choose what this says"},
		{"{header.Remote-User}", "", "want one placeholder by its full name"},
		{"{http.auth.user.id}@example.com", "", "want one placeholder by its full name"},
		{"{env.USER}", "", "want one placeholder by its full name"},
		{"{http.auth.user.id}", "issuer https://idp.example.com", "then there is no issuer"},
		{"{http.auth.user.id}", "client id secret", "then there is no issuer"},
		{"{http.auth.user.id}", "audience gatehouse", "then there is no issuer"},
		{"{http.auth.user.id}", "role r {\ngroups ops\n}", "groups is not known of somebody whom Caddy names"},
		{"{http.auth.user.id}", "role r {\nuser *@example.com\n}", ""},
		{"{http.auth.user.id}", "role r {\nuser ann*\n}", "others can choose a name that fits"},
		{"{http.auth.user.id}", "groups {http.auth.user.groups} a b", "argument"},
		{"email", "groups {http.auth.user.groups}", "belong to an identity whose user is a placeholder"},
	} {
		text := "role r {\nscopes chat:write\n}\n" + strings.NewReplacer("USER", c.user, "MORE", c.more).Replace(ambient)
		if err := identities(t, text); (err == nil) != (c.why == "") || err != nil && !strings.Contains(err.Error(), c.why) {
			t.Errorf("%s\n%v, want %q", text, err, c.why)
		}
	}
}
