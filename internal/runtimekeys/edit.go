package runtimekeys

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/gatehouse-proxy/gatehouse/internal/apierror"
)

// Bounds of what a manager sends.
const (
	maxName     = 256 // characters
	maxPerson   = 128 // characters of creator_user_id and external.user
	maxList     = 100 // elements
	maxElement  = 256 // bytes
	maxMetadata = 16  // members, as OpenAI's metadata
	maxMetaKey  = 64  // characters
	maxMetaText = 512 // characters
	// maxExtensions bounds the extensions of a key together, in bytes of their JSON: all keys are in
	// memory. It is enough for metadata of the greatest size and some limits.
	maxExtensions = 16 << 10
)

// Edit is what a request asks of a key: the members of its body.
type Edit struct {
	create    bool
	workspace string // of the tenant
	now       time.Time
	changes   []func(*Settings)
	asked     asked
	// Owner is the person who has a new key; nil: it belongs to no person.
	Owner *Owner
}

// NewEdit returns an empty edit. Workspace is the UUID of the tenant that a new key belongs to; a
// change of a key has none.
func NewEdit(create bool, workspace string, now time.Time) *Edit {
	return &Edit{create: create, workspace: workspace, now: now, asked: asked{}}
}

// apply makes the changes. The error is a 400: they are not possible together, or not here.
func (e *Edit) apply(b *Block, s *Settings) error {
	if s.Extensions != nil { // the other version's own
		more := *s.Extensions
		s.Extensions = &more
	}
	for _, change := range e.changes {
		change(s)
	}
	if s.Extensions != nil && s.isPlain() {
		s.Extensions = nil
	}
	if size := s.extensionsSize(); size > maxExtensions {
		return apierror.New(apierror.InvalidValue, "models, metadata and the other members beside OpenRouter's have %d bytes of JSON together; at most %d are kept of a key", size, maxExtensions)
	}
	return b.allows(s, e.asked)
}

func (s *Settings) extensionsSize() int {
	if s.Extensions == nil {
		return 0
	}
	text, _ := json.Marshal(s.Extensions) // strings and a number
	return len(text)
}

// isPlain reports whether no extension is set.
func (s *Settings) isPlain() bool {
	x := s.extensions()
	return len(x.Scopes)+len(x.Models)+len(x.Tools)+len(x.Rates)+len(x.Concurrency)+len(x.Budgets)+len(x.Metadata) == 0 && x.MaxOutput == 0
}

// more returns the extensions, to be changed.
func (s *Settings) more() *Extensions {
	if s.Extensions == nil {
		s.Extensions = new(Extensions)
	}
	return s.Extensions
}

// Member takes one member of the body. Known is false for a name that it does not know. The error is
// a 400 that names the member, or a 404 for another tenant's workspace.
func (e *Edit) Member(name string, value []byte) (known bool, err error) {
	read, ok := members[name]
	if !ok {
		if read, ok = createMembers[name]; !ok || !e.create {
			if read, ok = updateMembers[name]; !ok || e.create {
				return false, nil
			}
		}
	}
	change, err := read(e, value)
	if err == nil && change != nil {
		e.changes = append(e.changes, change)
		e.asked[name] = true
	}
	return true, err
}

// member reads the value of one member and returns the change that it asks for.
type member func(e *Edit, value []byte) (func(*Settings), error)

var members = map[string]member{
	"name": func(_ *Edit, value []byte) (func(*Settings), error) {
		text, err := readText("name", value, maxName)
		if err == nil && text == "" {
			err = invalid("name", "want 1 to %d characters", maxName)
		}
		return func(s *Settings) { s.Name = text }, err
	},
	"limit": func(_ *Edit, value []byte) (func(*Settings), error) {
		limit, err := parseUSD(value)
		return func(s *Settings) { s.Limit = limit }, err
	},
	"limit_reset": func(_ *Edit, value []byte) (func(*Settings), error) {
		var text *string
		if json.Unmarshal(value, &text) != nil || text != nil && !slices.Contains(resets, *text) {
			return nil, invalid("limit_reset", "want one of %s, or null for a limit that is never reset", strings.Join(resets, ", "))
		}
		return func(s *Settings) { s.Reset = orEmpty(text) }, nil
	},
	"include_byok_in_limit": func(_ *Edit, value []byte) (func(*Settings), error) {
		include, err := readBool("include_byok_in_limit", value)
		return func(s *Settings) { s.IncludeBYOK = include }, err
	},
	"expires_at": func(e *Edit, value []byte) (func(*Settings), error) {
		at, err := parseExpiry(value, e.now)
		return func(s *Settings) { s.Expires = at }, err
	},
	"scopes":  list("scopes", func(x *Extensions) *[]string { return &x.Scopes }),
	"models":  list("models", func(x *Extensions) *[]string { return &x.Models }),
	"mcp":     list("mcp", func(x *Extensions) *[]string { return &x.Tools }),
	"rates":   list("rates", func(x *Extensions) *[]string { return &x.Rates }),
	"budgets": list("budgets", func(x *Extensions) *[]string { return &x.Budgets }),
	"concurrency": func(_ *Edit, value []byte) (func(*Settings), error) {
		var number json.Number
		var text *string
		if json.Unmarshal(value, &number) == nil && number != "" {
			digits := number.String()
			text = &digits
		} else if json.Unmarshal(value, &text) != nil || text != nil && !isElement(*text) {
			return nil, invalid("concurrency", "want a number, or a text such as \"10 queue 20 2s\"")
		}
		return func(s *Settings) { s.more().Concurrency = orEmpty(text) }, nil
	},
	"max_output_tokens": func(_ *Edit, value []byte) (func(*Settings), error) {
		var tokens *int64
		if json.Unmarshal(value, &tokens) != nil || tokens != nil && *tokens < 1 {
			return nil, invalid("max_output_tokens", "want a whole number from 1 on, or null")
		}
		return func(s *Settings) {
			s.more().MaxOutput = 0
			if tokens != nil {
				s.more().MaxOutput = *tokens
			}
		}, nil
	},
	"metadata": func(_ *Edit, value []byte) (func(*Settings), error) {
		var metadata map[string]string
		if json.Unmarshal(value, &metadata) != nil || len(metadata) > maxMetadata {
			return nil, invalid("metadata", "want an object of at most %d strings", maxMetadata)
		}
		for _, name := range slices.Sorted(maps.Keys(metadata)) {
			if utf8.RuneCountInString(name) > maxMetaKey || utf8.RuneCountInString(metadata[name]) > maxMetaText {
				return nil, invalid("metadata", "a name has at most %d characters, a value %d", maxMetaKey, maxMetaText)
			}
		}
		return func(s *Settings) { s.more().Metadata = metadata }, nil
	},
}

// updateMembers are only in a change of a key.
var updateMembers = map[string]member{
	"disabled": func(_ *Edit, value []byte) (func(*Settings), error) {
		disabled, err := readBool("disabled", value)
		return func(s *Settings) { s.Disabled = disabled }, err
	},
}

// createMembers are only in the making of a key.
var createMembers = map[string]member{
	"workspace_id": func(e *Edit, value []byte) (func(*Settings), error) {
		var id *string
		if json.Unmarshal(value, &id) != nil {
			return nil, invalid("workspace_id", "want a string")
		}
		if id != nil && !strings.EqualFold(*id, e.workspace) {
			return nil, apierror.New(apierror.NotFound, "workspace_id: there is no such workspace").WithParam("workspace_id")
		}
		return nil, nil
	},
	"creator_user_id": func(_ *Edit, value []byte) (func(*Settings), error) {
		text, err := readText("creator_user_id", value, maxPerson)
		return func(s *Settings) { s.Creator = text }, err
	},
	"external": func(_ *Edit, value []byte) (func(*Settings), error) {
		var parts map[string]json.RawMessage
		if json.Unmarshal(value, &parts) != nil {
			return nil, invalid("external", "want an object with the member user")
		}
		var user string
		for _, name := range slices.Sorted(maps.Keys(parts)) {
			if name != "user" {
				return nil, apierror.New(apierror.UnsupportedParameter, "external: only the member user is supported").WithParam("external")
			}
			var err error
			if user, err = readText("external", parts[name], maxPerson); err != nil {
				return nil, err
			}
		}
		return func(s *Settings) { s.External = user }, nil
	},
}

// list reads an array of strings; null is an empty one.
func list(name string, field func(*Extensions) *[]string) member {
	return func(_ *Edit, value []byte) (func(*Settings), error) {
		var texts []string
		if json.Unmarshal(value, &texts) != nil || len(texts) > maxList {
			return nil, invalid(name, "want an array of at most %d strings", maxList)
		}
		for _, text := range texts {
			if !isElement(text) {
				return nil, invalid(name, "an element has 1 to %d bytes of printable characters", maxElement)
			}
		}
		return func(s *Settings) { *field(s.more()) = texts }, nil
	}
}

// isElement reports whether a text can be one of a list. An operator's terminal shows it as it is.
func isElement(text string) bool {
	return 0 < len(text) && len(text) <= maxElement && !strings.ContainsFunc(text, func(r rune) bool { return !unicode.IsPrint(r) })
}

// readText reads a string that has at most so many characters; null is "".
func readText(name string, value []byte, most int) (string, error) {
	var text *string
	if json.Unmarshal(value, &text) != nil || utf8.RuneCountInString(orEmpty(text)) > most {
		return "", invalid(name, "want a string of at most %d characters", most)
	}
	return orEmpty(text), nil
}

func readBool(name string, value []byte) (bool, error) {
	var is *bool
	if json.Unmarshal(value, &is) != nil || is == nil {
		return false, invalid(name, "want true or false")
	}
	return *is, nil
}

func orEmpty(text *string) string {
	if text == nil {
		return ""
	}
	return *text
}
