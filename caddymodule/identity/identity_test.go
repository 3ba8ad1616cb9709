package identity_test

import (
	"strings"
	"testing"

	"github.com/caddyserver/caddy/v2"
	"github.com/caddyserver/caddy/v2/caddyconfig"
	"github.com/caddyserver/caddy/v2/caddyconfig/caddyfile"

	_ "github.com/gatehouse-proxy/gatehouse/caddymodule/cluster"
	"github.com/gatehouse-proxy/gatehouse/caddymodule/core"
	_ "github.com/gatehouse-proxy/gatehouse/caddymodule/identity"
	"github.com/gatehouse-proxy/gatehouse/internal/caddykit"
)

// identities checks the roles and identities of a Caddyfile.
func identities(t *testing.T, text string) error {
	t.Helper()
	a := new(core.App)
	if err := a.UnmarshalCaddyfile(caddyfile.NewTestDispenser("gatehouse {\ndata_dir " + t.TempDir() + "\n" + text + "\n}")); err != nil {
		return err
	}
	return caddy.Validate(&caddy.Config{AppsRaw: caddy.ModuleMap{caddykit.AppName: caddyconfig.JSON(a, nil)}})
}

func TestRolesAndIdentitiesThatCannotBe(t *testing.T) {
	const idp = "identity idp {\nissuer https://idp.example.com\naudience a\nrole r\n}\n"
	for text, why := range map[string]string{
		"role r {\nscopes chat:write\n}\n" + idp:                                  "",
		"role r {\nscopes chat:write\nbudget 5usd/day\nmax_body 64MiB\n}\n" + idp: "",
		idp:                                                     `there is no role "r"`,
		"role r {\nscopes chat:write\n}\n":                      "no identity gives it",
		"role r {\n}\n" + idp:                                   "scopes: at least one",
		"role r {\nscopes chat:wirte\n}\n" + idp:                "chat:wirte",
		"role r {\nscopes keys:manage\n}\n" + idp:               "",
		"role r {\nscopes chat:write\nmcp demo\n}\n" + idp:      "mcp",
		"role r {\nscopes chat:write\nmax_body 1GiB\n}\n" + idp: "body",
		"role r {\nscopes chat:write\nbudget 1usd/day\nbudget 2usd/day\n}\n" + idp:                                        "budget",
		"role r/s {\nscopes chat:write\n}\n" + strings.ReplaceAll(idp, "role r", "role r/s"):                              "its name",
		"role r {\nscopes chat:write\nsecret x\n}\n" + idp:                                                                "secret",
		"key r {\nsecret 0123456789abc\nscopes chat:write\n}\nrole r {\nscopes chat:write\n}\n" + idp:                     "has this name",
		"role r {\nscopes chat:write\n}\n" + idp + idp:                                                                    "configured twice",
		"role r {\nscopes chat:write\n}\n" + strings.Replace(idp, "idp {", "i/d {", 1):                                    "as its name",
		"role r {\nscopes chat:write\n}\n" + strings.Replace(idp, "https://idp.example.com", "http://idp.example.com", 1): "http is only possible",
		"role r {\nscopes chat:write\n}\n" + strings.Replace(idp, "role r\n", "role r {\ngroups\n}\n", 1):                 "groups",
	} {
		if err := identities(t, text); (err == nil) != (why == "") || err != nil && !strings.Contains(err.Error(), why) {
			t.Errorf("%s\n%v, want %q", text, err, why)
		}
	}
}

func TestClientsOfIdentityProvidersThatCannotBe(t *testing.T) {
	const (
		role   = "role r {\nscopes chat:write\n}\n"
		secret = "encryption_secret 0123456789012345678901234567890123456789\n"
		origin = "origin https://ai.example.com\n"
		client = "identity idp {\nissuer https://idp.example.com\nclient id secret\nrole r\n}\n"
	)
	for text, why := range map[string]string{
		role + origin + client:          "",
		role + origin + secret + client: "",
		role + client:                   "origin is missing",
		role + origin + strings.Replace(client, "client id secret", "client id", 1):                                     "argument",
		role + origin + strings.Replace(client, "client id secret", "scopes openid", 1):                                 "audience is missing",
		role + origin + strings.Replace(client, "client id secret", "client id secret\nscopes profile", 1):              "openid is needed",
		role + origin + strings.Replace(client, "client id secret", "client id secret\naudience id", 1):                 "are the same",
		role + strings.Replace(origin, ".com", ".com/path", 1) + client:                                                 "want https://",
		role + origin + "encryption_secret short\n" + client:                                                            "at least 32",
		role + origin + "cluster one {\npostgres {env.P}\nvalkey {env.V}\n}\n" + client:                                 "encryption_secret is missing",
		role + origin + strings.Replace(client, "https://idp.example.com", "https://accounts.google.com", 1):            "everybody can get a token",
		role + origin + secret + strings.Replace(client, "client id secret", "client id secret\naudience gatehouse", 1): "",
	} {
		if err := identities(t, text); (err == nil) != (why == "") || err != nil && !strings.Contains(err.Error(), why) {
			t.Errorf("%s\n%v, want %q", text, err, why)
		}
	}
}
