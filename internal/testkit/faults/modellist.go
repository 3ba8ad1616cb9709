package faults

import (
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strconv"
	"time"

	"github.com/gatehouse-proxy/gatehouse/internal/testprovider"
)

// openAIModels is the list of models in OpenAI's form.
func openAIModels(ids []string) object {
	list := make([]object, len(ids))
	for i, id := range ids {
		list[i] = object{}.With("id", id).With("object", "model").
			With("created", testprovider.Created).With("owned_by", "gatehouse")
	}
	return object{}.With("object", "list").With("data", list)
}

// The pages of Anthropic's list of models.
const (
	defaultPage = 20
	maxPage     = 1000
)

// anthropicModels is a page of the models in Anthropic's form: limit of them after
// the model after_id, or before the model before_id. The error is a refusal.
func anthropicModels(ids []string, query url.Values) (object, error) {
	limit := defaultPage
	if query.Has("limit") {
		var err error
		if limit, err = strconv.Atoi(query.Get("limit")); err != nil || limit < 1 || limit > maxPage {
			return nil, fmt.Errorf("limit: Input should be from 1 to %d", maxPage)
		}
	}
	after, before := query.Get("after_id"), query.Get("before_id")
	from, to := 0, len(ids)
	for cursor, id := range map[string]string{"after_id": after, "before_id": before} {
		if id != "" && !slices.Contains(ids, id) {
			return nil, fmt.Errorf("%s: no model %q", cursor, id)
		}
	}
	switch {
	case after != "" && before != "":
		return nil, errors.New("Only one of after_id and before_id may be given.")
	case after != "":
		from = slices.Index(ids, after) + 1
	case before != "":
		to = slices.Index(ids, before)
		from = max(0, to-limit)
	}
	more := before != "" && from > 0 || before == "" && to-from > limit
	page := ids[from:min(to, from+limit)]
	list := make([]object, len(page))
	for i, id := range page {
		created := time.Unix(testprovider.Created, 0).UTC().Format(time.RFC3339)
		list[i] = object{}.With("type", "model").With("id", id).With("display_name", "Test "+id).
			With("created_at", created).With("lifecycle", "active").
			With("max_input_tokens", 200_000).With("max_tokens", testprovider.MaxOutputTokens)
	}
	o := object{}.With("data", list).With("has_more", more).With("first_id", nil).With("last_id", nil)
	if len(page) > 0 {
		o = o.With("first_id", page[0]).With("last_id", page[len(page)-1])
	}
	return o, nil
}
