package openapi

import (
	"encoding/json"
	"reflect"
	"time"

	"github.com/gatehouse-proxy/gatehouse/internal/desktop"
	"github.com/gatehouse-proxy/gatehouse/internal/jsonschema"
	"github.com/gatehouse-proxy/gatehouse/internal/openrouter"
	"github.com/gatehouse-proxy/gatehouse/internal/report"
)

// The following are written member by member elsewhere: tests hold them against real answers and
// requests.

type list[T any] struct {
	Object string `json:"object"`
	Data   []T    `json:"data"`
}

type health struct {
	Status string            `json:"status"`
	Parts  map[string]string `json:"parts,omitempty"`
}

type openaiError struct {
	Error struct {
		Message string          `json:"message"`
		Type    string          `json:"type"`
		Param   *string         `json:"param"`
		Code    string          `json:"code"`
		Details json.RawMessage `json:"details,omitempty"`
	} `json:"error"`
}

type routerError struct {
	Error struct {
		Code     int    `json:"code"` // the status
		Message  string `json:"message"`
		Metadata struct {
			Type         string   `json:"error_type"`
			Param        string   `json:"param,omitempty"`
			Provider     string   `json:"provider_name,omitempty"`
			ProviderCode string   `json:"provider_code,omitempty"`
			LimitSource  string   `json:"limit_source,omitempty"`
			Reasons      []string `json:"reasons,omitempty"`
		} `json:"metadata"`
	} `json:"error"`
}

type model struct {
	ID            string `json:"id"`
	Object        string `json:"object"`
	Created       int64  `json:"created"`
	OwnedBy       string `json:"owned_by"`
	ContextLength int64  `json:"context_length,omitempty"`
}

type workstations struct {
	list[desktop.View]
	Sources []desktop.SourceList `json:"sources,omitempty"`
	Next    openrouter.Text      `json:"next_cursor,omitempty"`
}

type registration struct {
	desktop.Registration
	ExpiresIn int64 `json:"expires_in,omitempty"` // in how many seconds it ends
}

type wholeList struct {
	Source   string `json:"source"`             // the control plane
	Complete bool   `json:"complete,omitempty"` // what is not in items is released
	Force    bool   `json:"force,omitempty"`    // even if those are many
	Items    []struct {
		ID string `json:"workstation_id"`
		registration
	} `json:"items"`
}

type address struct {
	ViewOnly  bool                 `json:"view_only,omitempty"`
	Shared    bool                 `json:"shared,omitempty"`
	Once      bool                 `json:"once,omitempty"`       // its token ends with its first use
	TakeOver  bool                 `json:"take_over,omitempty"`  // whether to end sessions that are in the way
	ExpiresIn int64                `json:"expires_in,omitempty"` // how many seconds it waits for its first use
	Session   desktop.SessionRules `json:"session,omitzero"`
}

type guest struct {
	ViewOnly  bool                 `json:"view_only,omitempty"`
	ExpiresIn int64                `json:"expires_in,omitempty"` // how many seconds it waits for its first use
	Label     string               `json:"label,omitempty"`      // for whom, for lists
	Session   desktop.SessionRules `json:"session,omitzero"`
}

type control struct {
	Action  string `json:"action"`               // take, return or request_help
	Note    string `json:"note,omitempty"`       // what help is needed for
	Session string `json:"session_id,omitempty"` // that takes the input, if the key has several
}

type changedKey struct {
	keySettings
	Disabled bool `json:"disabled,omitempty"`
}

type newKey struct {
	keySettings
	Workspace string `json:"workspace_id,omitempty"`
	Creator   string `json:"creator_user_id,omitempty"`
	External  struct {
		User string `json:"user"`
	} `json:"external,omitzero"`
}

type keySettings struct {
	Name        string            `json:"name,omitempty"`
	Limit       float64           `json:"limit,omitempty"`       // USD
	LimitReset  string            `json:"limit_reset,omitempty"` // daily, weekly or monthly
	IncludeBYOK bool              `json:"include_byok_in_limit,omitempty"`
	Expires     time.Time         `json:"expires_at,omitzero"`
	Scopes      []string          `json:"scopes,omitempty"`
	Models      []string          `json:"models,omitempty"`
	Tools       []string          `json:"mcp,omitempty"`
	Rates       []string          `json:"rates,omitempty"`
	Budgets     []string          `json:"budgets,omitempty"`
	Concurrency string            `json:"concurrency,omitempty"`
	MaxOutput   int64             `json:"max_output_tokens,omitempty"`
	Metadata    map[string]string `json:"metadata,omitempty"`
}

type rotation struct {
	Grace string `json:"grace,omitempty"` // how long the replaced secret stays good: "24h"
}

type deleted struct {
	Deleted bool `json:"deleted"`
}

type configuredKeys struct {
	Data []report.ConfiguredKey `json:"data"`
}

type configuredKey struct {
	Data report.ConfiguredKey `json:"data"`
}

// actions has a schema in types.
type actions struct{}

func nullable(kind string) jsonschema.Schema {
	return jsonschema.Schema{"type": []string{kind, "null"}}
}

// types have the schemas of types that encode themselves.
func types() map[reflect.Type]jsonschema.Schema {
	return map[reflect.Type]jsonschema.Schema{
		of[openrouter.USD]():                  {"type": "number"},
		of[openrouter.Date]():                 {"type": "string", "format": "date"},
		of[openrouter.Timestamp]():            {"type": []string{"string", "null"}, "format": "date-time"},
		of[openrouter.Milliseconds]():         nullable("integer"),
		of[openrouter.FractionMilliseconds](): {"type": "number"},
		of[openrouter.Text]():                 nullable("string"),
		of[openrouter.Count]():                nullable("integer"),
		of[openrouter.Amount]():               nullable("number"),
		of[openrouter.Ratio]():                nullable("number"),
		of[[]openrouter.ProviderStatus]():     {"type": []string{"array", "null"}, "items": object{"type": "object"}},
		of[desktop.Automation]():              {"type": "string", "enum": desktop.AutomationWords()},
		of[actions](): {
			"type": "object", "description": "Actions of OpenAI's computer tool, or one action of either vendor's tool with its members beside it.",
			"properties": object{"actions": object{"type": "array", "items": object{"type": "object"}}, "action": object{"type": []string{"object", "string"}},
				"space": object{"type": "object"}, "screenshot": object{"type": "object"}},
		},
	}
}

// activityRow is the schema of a row: OpenRouter's members and those of the gateway, which not all
// rows have.
func activityRow(m *jsonschema.Maker) jsonschema.Schema {
	row := m.Struct(of[openrouter.ActivityItem]())
	for _, member := range report.RowMembers() {
		t := reflect.TypeOf(member.Value)
		if t.Kind() == reflect.Pointer {
			t = t.Elem()
		}
		row["properties"].(map[string]jsonschema.Schema)[member.Name] = m.Of(t)
	}
	return row
}
