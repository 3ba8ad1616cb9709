package core_test

import (
	"encoding/json"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/gatehouse-proxy/gatehouse/caddymodule/core"
	"github.com/gatehouse-proxy/gatehouse/internal/caddykit"
)

// runtimeKeys stands for a feature with a member: its name is one that the core knows.
type runtimeKeys struct {
	RuntimeKeys *struct {
		Max int `json:"max"`
	} `json:"runtime_keys,omitempty"`
}

func (*runtimeKeys) Options() caddykit.Options { return nil }
func (*runtimeKeys) Build(*core.Build) error   { return nil }

func init() {
	core.Register("runtimekeys", func() core.Feature { return new(runtimeKeys) }, fstest.MapFS{})
}

func TestABlockHasTheMembersOfTheCoreAndOfFeatures(t *testing.T) {
	for text, want := range map[string]string{
		`{}`:                         `{}`,
		`{"runtime_keys":{"max":1}}`: `{"runtime_keys":{"max":1}}`,
		`{"Runtime_Keys":{"max":1}}`: `{"runtime_keys":{"max":1}}`,
		`{"data_dir":"x","runtime_keys":{"max":1}}`: `{"data_dir":"x","runtime_keys":{"max":1}}`,
		`{"runtime_keys":null,"vnc":null}`:          `{}`,
		`{"vnc":{"domain":"a"}}`:                    `{"vnc":{"domain":"a"}}`,
		`{"cluster":{}}`:                            "cluster: its feature is not in this build: build it with github.com/gatehouse-proxy/gatehouse/caddymodule/cluster",
		`{"vnc":{"domain":"a","record":{}}}`:        "caddymodule/recordings",
		`{"runtime_keys":{"most":1}}`:               "most",
		`{"key":[]}`:                                `unknown field "key"`,
		`{"data_dir":"x","vnc":{"domain":"a","max_tokens":1,"wokstations":[]}}`: "wokstations",
	} {
		var a core.App
		if err := json.Unmarshal([]byte(text), &a); err != nil {
			if !strings.Contains(err.Error(), want) {
				t.Errorf("%s: %v, want %s", text, err, want)
			}
			continue
		}
		if got, err := json.Marshal(&a); err != nil || string(got) != want {
			t.Errorf("%s: %s, %v, want %s", text, got, err, want)
		}
	}
}

func TestAFeatureIsListed(t *testing.T) {
	defer func() {
		if recover() == nil {
			t.Error("a feature that is not listed was registered")
		}
	}()
	core.Register("unheard of", func() core.Feature { return new(runtimeKeys) }, fstest.MapFS{})
}
