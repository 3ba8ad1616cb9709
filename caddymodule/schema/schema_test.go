package schema_test

import (
	"encoding/json"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/caddyserver/caddy/v2"

	_ "github.com/gatehouse-proxy/gatehouse/caddymodule"
	"github.com/gatehouse-proxy/gatehouse/caddymodule/schema"
	"github.com/gatehouse-proxy/gatehouse/internal/testkit/schematest"
)

func made(t *testing.T) []byte {
	t.Helper()
	text, err := schema.Make()
	if err != nil {
		t.Fatal(err)
	}
	return text
}

// What the loader refuses by its form, the schema refuses, too. Configurations that load are
// checked where the documentation and the goldens are.
func TestAWrongFormIsRefused(t *testing.T) {
	s := schematest.Compile(t, made(t), "")
	site := func(handler string) string {
		return `{"apps":{"http":{"servers":{"a":{"routes":[{"handle":[{"handler":"subroute","routes":[{"handle":[` + handler + `]}]}]}]}}}}}`
	}
	for text, good := range map[string]bool{
		`{"apps":{"gatehouse":{}}}`:                                                                         true,
		`{"admin":{"disabled":true},"apps":{"pki":{"anything":[1,null]}}}`:                                  true,
		`{"apps":{"gatehouse":{"key":[]}}}`:                                                                 false,
		`{"apps":{"gatehouse":{"keys":{}}}}`:                                                                false,
		`{"apps":{"gatehouse":{"keys":[{"name":"a","scopes":["chat:write"]}]}}}`:                            true,
		`{"apps":{"gatehouse":{"keys":[{"name":"a","scopes":["chat:wirte"]}]}}}`:                            false,
		`{"apps":{"gatehouse":{"keys":[{"scopes":["chat:write"]}]}}}`:                                       false,
		`{"apps":{"gatehouse":{"keys":[{"name":"a","scopes":[],"rates":["1/s"]}]}}}`:                        true,
		`{"apps":{"gatehouse":{"keys":[{"name":"a","scopes":[],"session":{"fps":15}}]}}}`:                   true,
		`{"apps":{"gatehouse":{"keys":[{"name":"a","scopes":[],"session":{"fsp":15}}]}}}`:                   false,
		`{"apps":{"gatehouse":{"timeouts":{"header":"10m"}}}}`:                                              true,
		`{"apps":{"gatehouse":{"timeouts":{"header":600000000000}}}}`:                                       true,
		`{"apps":{"gatehouse":{"timeouts":{"header":["10m"]}}}}`:                                            false,
		`{"apps":{"gatehouse":{"providers":[{"name":"a","dialect":"opnai"}]}}}`:                             false,
		`{"apps":{"gatehouse":{"providers":[{"name":"a","transport":{"protocol":"http"}}]}}}`:               true,
		`{"apps":{"gatehouse":{"providers":[{"name":"a","transport":{"protocol":"htpp"}}]}}}`:               false,
		site(`{"handler":"gatehouse"}`):                                                                     true,
		site(`{"handler":"gatehouse","scopes":[]}`):                                                         false,
		site(`{"handler":"gatehouse_auth","scopes":["models:read"]}`):                                       true,
		site(`{"handler":"gatehouse_auth","scope":["models:read"]}`):                                        false,
		site(`{"handler":"gatehouse_models","family":"openai"}`):                                            true,
		site(`{"handler":"gatehouse_models","family":1}`):                                                   false,
		site(`{"handler":"reverse_proxy","anything":{"at":"all"}}`):                                         true,
		`{"apps":{"layer4":{"servers":{"v":{"routes":[{"handle":[{"handler":"vnc"}]}]}}}}}`:                 true,
		`{"apps":{"layer4":{"servers":{"v":{"routes":[{"handle":[{"handler":"vnc","a":1}]}]}}}}}`:           false,
		`{"apps":{"http":{"servers":{"a":{"listener_wrappers":[{"wrapper":"gatehouse"}]}}}}}`:               true,
		`{"apps":{"http":{"servers":{"a":{"listener_wrappers":[{"wrapper":"gatehouse","a":1}]}}}}}`:         false,
		`{"apps":{"http":{"servers":{"a":{"tls_connection_policies":[{"match":{"vnc_token":{"a":1}}}]}}}}}`: false,
	} {
		if err := s.Check([]byte(text)); (err == nil) != good {
			t.Errorf("%s: %v", text, err)
		}
	}
}

// A module of another namespace needs a place in the schema.
func TestEachModuleHasAPlace(t *testing.T) {
	known := []string{"", "http.handlers", "layer4.handlers", "caddy.listeners", "tls.handshake_match", "gatehouse.credentials",
		"admin.api"} // the last has no options
	modules := 0
	for _, id := range caddy.Modules() {
		m, err := caddy.GetModule(id)
		if err != nil {
			t.Fatal(err)
		}
		if of := reflect.Indirect(reflect.ValueOf(m.New())).Type(); strings.HasPrefix(of.PkgPath(), "github.com/gatehouse-proxy/gatehouse/") {
			if modules++; !slices.Contains(known, m.ID.Namespace()) {
				t.Errorf("the schema does not have %s", id)
			}
		}
	}
	if modules < 40 {
		t.Errorf("%d modules", modules)
	}
}

// An editor shows what an option means.
func TestEachOptionIsDescribed(t *testing.T) {
	var whole struct {
		Defs map[string]struct {
			Properties map[string]struct{ Description string }
		} `json:"$defs"`
	}
	if err := json.Unmarshal(made(t), &whole); err != nil {
		t.Fatal(err)
	}
	options := 0
	for name, def := range whole.Defs {
		if name == "other" {
			continue
		}
		for option, s := range def.Properties {
			if options++; len(s.Description) < 10 && option != "handler" && option != "wrapper" {
				t.Errorf("%s.%s has the description %q", name, option, s.Description)
			}
		}
	}
	if options < 200 || !strings.Contains(whole.Defs["App"].Properties["data_dir"].Description, "Caddy's data directory") {
		t.Errorf("%d options, data_dir %q", options, whole.Defs["App"].Properties["data_dir"].Description)
	}
}
