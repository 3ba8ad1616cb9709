package messagesoncloud

import (
	"bytes"
	"slices"
	"strings"

	"github.com/gatehouse-proxy/gatehouse/internal/apierror"
	"github.com/gatehouse-proxy/gatehouse/internal/jsonscan"
	"github.com/gatehouse-proxy/gatehouse/internal/translate"
)

// betaFields are the fields of a request that only beta features know, by what the names of these
// begin with. The platforms refuse them without the feature.
//
// Sources: the request types of Anthropic's SDK for Python 2.12 that only its beta client has, what
// Claude Code 2.1.330 sends with each feature, and reports of what the platforms refuse.
var betaFields = []struct {
	name    string
	in      []string // where it stands; none: at the top
	betas   []string // none: no platform has the field
	refused bool     // the answer would be another one without the field, or another would pay for it
}{
	{"billing_policy", nil, []string{"user-profiles-billing-"}, true},
	{"cache_control", nil, nil, false}, // the vendor places the marks of the cache
	{"compaction", nil, []string{"compact-2026-09-"}, false},
	{"container", nil, []string{"code-execution-", "skills-"}, true},
	{"context_management", nil, []string{"context-management-", "compact-2026-01-"}, false},
	{"diagnostics", nil, []string{"cache-diagnosis-"}, false},
	{"inference_geo", nil, nil, true},
	{"mcp_servers", nil, []string{"mcp-client-"}, true},
	{"service_tier", nil, nil, false},
	{"speed", nil, []string{"fast-mode-"}, false},
	{"tags", nil, []string{"request-tags-"}, false},
	{"thread", nil, []string{"message-threads-"}, true},

	{"task_budget", []string{"output_config"}, []string{"task-budgets-"}, false},
	{"block_binding", []string{"thinking"}, []string{"thinking-binding-controls-"}, false},
	{"clear_at", []string{"messages[]"}, []string{"mid-conversation-system-clear-at-"}, false},
	{"output_config", []string{"messages[]"}, []string{"mid-conversation-output-config-", "per-turn-control-"}, false},
	{"evict_on_complete", marks, []string{"prompt-caching-evict-"}, false},
	{"scope", marks, []string{"prompt-caching-scope-"}, false},
}

// marks are where a request has marks of the cache.
var marks = []string{
	"system[].cache_control", "tools[].cache_control", "messages[].content[].cache_control", "messages[].content[].content[].cache_control",
}

// dropFields leaves out the fields whose beta features the request is sent without, and returns
// their names. The error is a 400.
func (p *Platform) dropFields(b *jsonscan.Body, betas []string) (leftOut []string, err error) {
	for _, f := range betaFields {
		switch {
		case slices.ContainsFunc(betas, func(beta string) bool { return hasPrefix(beta, f.betas) }):
		case f.in != nil:
			if dropNested(b, f.in, f.name) {
				leftOut = append(leftOut, f.name)
			}
		default:
			i, has := b.Find(f.name)
			if !has {
				continue
			}
			if f.refused {
				return nil, apierror.New(apierror.UnsupportedParameter, "%q is not possible with Claude on %s", f.name, p.name).WithParam(f.name)
			}
			b.Drop(i)
			leftOut = append(leftOut, f.name)
		}
	}
	return leftOut, nil
}

// dropNested drops a field where a body may have it, and reports whether it had.
func dropNested(b *jsonscan.Body, places []string, name string) (had bool) {
	key := []byte(`"` + name + `"`)
	for _, place := range places {
		top, rest := split(place)
		i, has := b.Find(top)
		if !has {
			continue
		}
		value := jsonscan.Edited(b, i)
		if !bytes.Contains(value, key) {
			continue
		}
		if without := dropAt(value, rest, name); without != nil {
			b.Set(i, without)
			had = true
		}
	}
	return had
}

// split returns the first step of a place, and the others: a key, or [] for each element of an
// array.
func split(place string) (step, rest string) {
	if rest, ok := strings.CutPrefix(place, "[]"); ok {
		return "[]", strings.TrimPrefix(rest, ".")
	}
	end := strings.IndexAny(place, ".[")
	if end < 0 {
		return place, ""
	}
	return place[:end], strings.TrimPrefix(place[end:], ".")
}

// dropAt returns a value without a field, nil if it has none at that place.
func dropAt(value []byte, place, name string) []byte {
	if place == "" {
		return editMember(value, name, nil)
	}
	step, rest := split(place)
	if step != "[]" {
		return editMember(value, step, func(inner []byte) []byte { return dropAt(inner, rest, name) })
	}
	var out []byte
	kept := 0
	for e := range jsonscan.AllElements(value) {
		if without := dropAt(e.Value(value), rest, name); without != nil {
			out = append(append(out, value[kept:e.Start]...), without...)
			kept = e.End
		}
	}
	if kept == 0 {
		return nil
	}
	return append(out, value[kept:]...)
}

// editMember returns an object with another value of one member, or without it if edit is nil. It
// returns nil if there is no such member, or nothing to edit in it.
func editMember(object []byte, name string, edit func([]byte) []byte) []byte {
	members := jsonscan.Members(object, nil)
	i, has := jsonscan.Find(object, members, name)
	if !has {
		return nil
	}
	patch := jsonscan.NewPatch(object, members)
	if edit == nil {
		patch.Drop(i)
	} else if value := edit(members[i].Value(object)); value != nil {
		patch.Set(i, value)
	} else {
		return nil
	}
	return patch.Append(nil)
}

// maxBetas bounds the beta features of a request; Claude Code sends about ten.
const maxBetas = 64

// known returns the beta features that the platform knows, by its own names, and the others.
func (p *Platform) known(lists, extra []string) (known, others []string) {
	for _, list := range lists {
		for beta := range strings.SplitSeq(list, ",") {
			beta = strings.TrimSpace(beta)
			name := p.betas[beta]
			if slices.Contains(extra, beta) {
				name = beta
			}
			switch {
			case beta == "" || len(known)+len(others) == maxBetas || slices.Contains(known, name):
			case name == "":
				others = append(others, "anthropic-beta "+translate.Shorten(beta))
			default:
				known = append(known, name)
			}
		}
	}
	return known, others
}

func hasPrefix(s string, prefixes []string) bool {
	return slices.ContainsFunc(prefixes, func(prefix string) bool { return strings.HasPrefix(s, prefix) })
}
