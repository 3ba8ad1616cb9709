package testprovider

import (
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"
)

// Created is the creation time of every model, in unix seconds: constant, so that
// two lists are equal.
const Created = 1_767_225_600 // 2026-01-01

// failAfter is how many words of a streamed reply the model fail writes: enough to
// commit every reader to a success before the end is missing.
const failAfter = 3

// Model is one model of the provider.
type Model struct {
	// ID is the name under which the model is called.
	ID string
	// Description is one sentence on what the model does.
	Description string
	// Embeds says that the model makes embeddings and does not write.
	Embeds bool

	pace  time.Duration // before each word
	fails bool
	fixed string // said to everybody; "": echoes
}

var models = []Model{
	{ID: "echo", Description: "Repeats the last user message."},
	{ID: "embed", Description: "Embeds texts: those with common words have similar embeddings.", Embeds: true},
	{ID: "fail", Description: "Always fails: status 500, or a stream that breaks off.", fails: true},
	{ID: "lorem", Description: "Says the same 512 words to everybody.", fixed: lorem(512)},
	{ID: "slow", Description: "Repeats the last user message, one word every 200 ms.", pace: 200 * time.Millisecond},
}

// Models returns all models, by name, the same as GET {base}/models lists.
func Models() []Model {
	return append([]Model(nil), models...)
}

func findModel(id string) (Model, error) {
	if id == "" {
		return Model{}, errMissing("model")
	}
	for _, m := range models {
		if m.ID == id {
			return m, nil
		}
	}
	return Model{}, errModel(id)
}

// ModelList is the list of models in OpenAI's form.
func ModelList(ids []string) Object {
	list := make([]Object, len(ids))
	for i, id := range ids {
		list[i] = Object{{"id", id}, {"object", "model"}, {"created", Created}, {"owned_by", "gatehouse"}}
	}
	return Object{{"object", "list"}, {"data", list}}
}

// findWriter returns a model that writes.
func findWriter(id string) (Model, error) {
	model, err := findModel(id)
	if err == nil && model.Embeds {
		err = errValue("model", "the model %q makes embeddings only", id)
	}
	return model, err
}

func (t *Transport) listModels(req *http.Request) (answer, error) {
	var ids []string
	for _, m := range models {
		if !m.Embeds || !isMessages(req) { // Anthropic has no such models
			ids = append(ids, m.ID)
		}
	}
	if !isMessages(req) {
		return answer{body: ModelList(ids)}, nil
	}
	list, err := MessagesModels(ids, req.URL.Query())
	return answer{body: list}, err
}

// The pages of Anthropic's list of models.
const (
	defaultPage = 20
	maxPage     = 1000
)

// MessagesModels is a page of the models in Anthropic's form: limit of them after
// the model after_id, or before the model before_id. The error is a refusal.
func MessagesModels(ids []string, query url.Values) (Object, error) {
	limit := defaultPage
	if query.Has("limit") {
		var err error
		if limit, err = strconv.Atoi(query.Get("limit")); err != nil || limit < 1 || limit > maxPage {
			return nil, errField("limit", "Input should be from 1 to %d", maxPage)
		}
	}
	after, before := query.Get("after_id"), query.Get("before_id")
	from, to := 0, len(ids)
	for cursor, id := range map[string]string{"after_id": after, "before_id": before} {
		if id != "" && !slices.Contains(ids, id) {
			return nil, errField(cursor, "no model %q", id)
		}
	}
	switch {
	case after != "" && before != "":
		return nil, errPlain("Only one of after_id and before_id may be given.")
	case after != "":
		from = slices.Index(ids, after) + 1
	case before != "":
		to = slices.Index(ids, before)
		from = max(0, to-limit)
	}
	more := before != "" && from > 0 || before == "" && to-from > limit
	page := ids[from:min(to, from+limit)]
	list := make([]Object, len(page))
	for i, id := range page {
		list[i] = Object{
			{"type", "model"}, {"id", id}, {"display_name", "Test " + id},
			{"created_at", time.Unix(Created, 0).UTC().Format(time.RFC3339)}, {"lifecycle", "active"},
			{"max_input_tokens", 200_000}, {"max_tokens", MaxOutputTokens},
		}
	}
	o := Object{{"data", list}, {"has_more", more}, {"first_id", nil}, {"last_id", nil}}
	if len(page) > 0 {
		o = o.With("first_id", page[0]).With("last_id", page[len(page)-1])
	}
	return o, nil
}

// lorem returns n words of filler.
func lorem(n int) string {
	words := strings.Fields("lorem ipsum dolor sit amet consectetur adipiscing elit sed do eiusmod tempor incididunt ut labore et dolore magna aliqua")
	text := make([]string, n)
	for i := range text {
		text[i] = words[i%len(words)]
	}
	return strings.Join(text, " ")
}
