package handlers

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/caddyserver/caddy/v2/caddyconfig"
	"github.com/caddyserver/caddy/v2/caddyconfig/caddyfile"
	_ "github.com/caddyserver/caddy/v2/modules/caddyhttp/caddyauth" // basic_auth
)

func TestDirectivesReadTheirOptions(t *testing.T) {
	auth, models := new(Auth), new(Endpoint)
	must(t, auth.UnmarshalCaddyfile(caddyfile.NewTestDispenser("gatehouse_auth chat:write models:read")))
	if !slices.Equal(auth.Scopes, []string{"chat:write", "models:read"}) {
		t.Errorf("scopes %v", auth.Scopes)
	}
	must(t, models.UnmarshalCaddyfile(caddyfile.NewTestDispenser("gatehouse_models {\n family openrouter\n}")))
	if models.Family != "openrouter" {
		t.Errorf("family %q", models.Family)
	}
	must(t, new(Gatehouse).UnmarshalCaddyfile(caddyfile.NewTestDispenser("gatehouse")))
	must(t, new(Gatehouse).UnmarshalCaddyfile(caddyfile.NewTestDispenser("gatehouse {\n}")))
}

func TestDirectivesRefuseWhatTheyDoNotKnow(t *testing.T) {
	for _, c := range []struct {
		directive directive
		text      string
		want      string
	}{
		{new(Gatehouse), "gatehouse x", "rong argument count"},
		{new(Gatehouse), "gatehouse {\n family openai\n}", `unknown option "family"`},
		{new(Auth), "gatehouse_auth {\n scopes chat:write\n}", `unknown option "scopes"`},
		{new(Endpoint), "gatehouse_chat x", "rong argument count"},
		{new(Endpoint), "gatehouse_chat {\n family openai\n family openai\n}", "given twice"},
		{new(Endpoint), "gatehouse_chat {\n family\n}", "rong argument count"},
	} {
		if err := c.directive.UnmarshalCaddyfile(caddyfile.NewTestDispenser(c.text)); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%q: %v, want %q", c.text, err, c.want)
		}
	}
}

// Authentication comes before all that answers, whatever the order in the file.
func TestDirectivesHaveTheirPositions(t *testing.T) {
	config, _, err := caddyconfig.GetAdapter("caddyfile").Adapt([]byte(`:80
		respond hello
		gatehouse_key /key
		gatehouse
		basic_auth {
			u $2a$14$Zkx19XLiW6VYouLHR5NmfOFU0z2GTNmpkT/5qqR7hx4IjWJPDhjvG
		}
		gatehouse_auth chat:write
	`), nil)
	must(t, err)
	var site struct {
		Apps struct {
			HTTP struct {
				Servers map[string]struct {
					Routes []struct{ Handle []map[string]any }
				}
			}
		}
	}
	must(t, json.Unmarshal(config, &site))
	var order []string
	for _, route := range site.Apps.HTTP.Servers["srv0"].Routes {
		for _, handler := range route.Handle {
			order = append(order, handler["handler"].(string))
		}
	}
	if want := []string{"gatehouse_auth", "authentication", "gatehouse", "gatehouse_key", "static_response"}; !slices.Equal(order, want) {
		t.Errorf("order %v, want %v", order, want)
	}
}
