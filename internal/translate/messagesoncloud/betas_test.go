package messagesoncloud_test

import (
	"encoding/json"
	"errors"
	"reflect"
	"strings"
	"testing"

	"github.com/gatehouse-proxy/gatehouse/internal/apierror"
	"github.com/gatehouse-proxy/gatehouse/internal/translate/messagesoncloud"
)

// marked has marks of the cache as Claude Code sets them, and a tool whose schema and input look
// like one.
const marked = `{"max_tokens":5,"system":[{"type":"text","text":"s","cache_control":{"type":"ephemeral","ttl":"1h","scope":"global"}}],
"tools":[{"name":"f","input_schema":{"type":"object","properties":{"cache_control":{"scope":"x"}}},"cache_control":{"scope":"global","type":"ephemeral"}}],
"messages":[{"role":"user","content":"scope"},{"role":"assistant","content":[{"type":"tool_use","id":"a","name":"f","input":{"cache_control":{"scope":"x"}}}]},
{"role":"user","content":[{"type":"tool_result","tool_use_id":"a","content":[{"type":"text","text":"r","cache_control":{"type":"ephemeral","scope":"global","evict_on_complete":true}}],"cache_control":{"type":"ephemeral","scope":"global"}}]},
{"role":"system","content":"now","clear_at":"x","output_config":{"effort":"low"}}],"output_config":{"effort":"high","task_budget":{"total":1}},"thinking":{"type":"adaptive","block_binding":{}}`

const plainMarks = `{"max_tokens":5,"system":[{"type":"text","text":"s","cache_control":{"type":"ephemeral","ttl":"1h"}}],
"tools":[{"name":"f","input_schema":{"type":"object","properties":{"cache_control":{"scope":"x"}}},"cache_control":{"type":"ephemeral"}}],
"messages":[{"role":"user","content":"scope"},{"role":"assistant","content":[{"type":"tool_use","id":"a","name":"f","input":{"cache_control":{"scope":"x"}}}]},
{"role":"user","content":[{"type":"tool_result","tool_use_id":"a","content":[{"type":"text","text":"r","cache_control":{"type":"ephemeral"}}],"cache_control":{"type":"ephemeral"}}]},
{"role":"system","content":"now"}],"output_config":{"effort":"high"},"thinking":{"type":"adaptive"}`

func TestFieldsGoWithTheirBetas(t *testing.T) {
	const (
		atTop = `,"cache_control":{"type":"ephemeral"},"tags":{"a":"b"},"diagnostics":{},"compaction":{}`
		all   = "cache_control compaction diagnostics tags task_budget block_binding clear_at output_config evict_on_complete scope"
	)
	for name, c := range map[string]struct {
		platform *messagesoncloud.Platform
		betas    string
		extra    []string
		want     string // without the version
		leftOut  string
	}{
		"no betas": {messagesoncloud.Bedrock, "", nil, plainMarks, all},
		"betas that are taken out": {messagesoncloud.Vertex, "prompt-caching-scope-2026-01-05,request-tags-2026-08-21", nil, plainMarks,
			"anthropic-beta prompt-caching-scope-2026-01-05 anthropic-beta request-tags-2026-08-21 " + all},
		"betas that the operator knows": {messagesoncloud.VertexCount, "prompt-caching-scope-2026-01-05,prompt-caching-evict-2026-05-12,request-tags-2026-08-21," +
			"cache-diagnosis-2026-04-07,compact-2026-09-04,task-budgets-2026-03-13," +
			"thinking-binding-controls-2026-08-01,mid-conversation-system-clear-at-2026-08-21,per-turn-control-2026-07-01",
			[]string{
				"prompt-caching-scope-2026-01-05", "prompt-caching-evict-2026-05-12", "request-tags-2026-08-21", "cache-diagnosis-2026-04-07", "compact-2026-09-04",
				"task-budgets-2026-03-13", "thinking-binding-controls-2026-08-01",
				"mid-conversation-system-clear-at-2026-08-21", "per-turn-control-2026-07-01",
			}, marked + strings.Replace(atTop, `"cache_control":{"type":"ephemeral"},`, "", 1), "cache_control"},
	} {
		got, _, leftOut, err := request(t, c.platform, marked+atTop+"}", c.extra, false, "Anthropic-Beta", c.betas)
		var sent, want map[string]any
		if err := errors.Join(err, json.Unmarshal([]byte(got), &sent), json.Unmarshal([]byte(c.want+"}"), &want)); err != nil {
			t.Fatalf("%s: %v\n%s", name, err, got)
		}
		if delete(sent, "anthropic_version"); !reflect.DeepEqual(sent, want) || strings.Join(leftOut, " ") != c.leftOut {
			t.Errorf("%s: left out %q\n%s", name, leftOut, got)
		}
	}
}

func TestWhatAnotherWouldPayForIsRefused(t *testing.T) {
	for _, field := range []string{"billing_policy", "thread"} {
		_, _, _, err := request(t, messagesoncloud.Bedrock, `{"model":"m","`+field+`":{}}`, nil, false)
		var refusal *apierror.Error
		if !errors.As(err, &refusal) || refusal.Param != field || refusal.Code != apierror.UnsupportedParameter {
			t.Errorf("%s: %v", field, err)
		}
	}
}

// A body that was edited before keeps those edits.
func TestANestedFieldIsDroppedFromWhatWasEdited(t *testing.T) {
	got, _, _, err := request(t, messagesoncloud.Bedrock, `{"messages":[{"role":"system","clear_at":1,"output_config":{},"content":[{"cache_control":{"scope":"g","evict_on_complete":true}}]}]}`, nil, false)
	if want := `{"messages":[{"role":"system","content":[{"cache_control":{}}]}],"anthropic_version":"bedrock-2023-05-31"}`; err != nil || got != want {
		t.Errorf("%v %s", err, got)
	}
}
