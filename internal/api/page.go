package api

import (
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/gatehouse-proxy/gatehouse/internal/apierror"
	"github.com/gatehouse-proxy/gatehouse/internal/catalog"
)

// The sizes of a page of a list of models.
const (
	openrouterPage = 500
	anthropicPage  = 20
	googlePage     = 50
	maxPage        = 1000
)

// Page is the part of a list that was asked for.
type Page struct {
	Offset, Limit int
	After, Before string // the page follows, or ends at, the model of this ID

	outputs string // only models with one of these modalities, with commas between them; "": all but embeddings
}

// OutputModalities is the name in a query for what models answer with: text, embeddings, …, with
// commas between them, or all.
const OutputModalities = "output_modalities"

// ParsePage implements [API]. The family's SDKs know no pages, so the page has no effect.
func (OpenAI) ParsePage(q url.Values) (Page, error) { return offsetPage(q) }

// ParsePage implements [API]. OpenRouter's Go SDK asks for pages until one is empty: it would never
// end if an offset were ignored. As at OpenRouter, models that embed are listed only where the query
// asks for them: clients take what is listed for models that can chat.
func (OpenRouter) ParsePage(q url.Values) (Page, error) {
	p, err := offsetPage(q)
	p.outputs = q.Get(OutputModalities)
	return p, err
}

// shown returns the models that the list has. It reuses their slice.
func (p Page) shown(models []catalog.Model) []catalog.Model {
	return slices.DeleteFunc(models, func(m catalog.Model) bool { return !p.shows(m) })
}

// shows reports whether the list has a model, by what it answers with.
func (p Page) shows(m catalog.Model) bool {
	switch p.outputs {
	case "":
		return m.Generates()
	case "all":
		return true
	}
	return slices.ContainsFunc(strings.Split(p.outputs, ","), func(name string) bool {
		return slices.Contains(m.OutputModalities, strings.TrimSpace(name))
	})
}

func offsetPage(q url.Values) (Page, error) {
	p := Page{Limit: openrouterPage}
	err := pageNumber(q, "offset", &p.Offset, 0, catalog.MaxModels)
	if err == nil {
		err = pageNumber(q, "limit", &p.Limit, 1, maxPage)
	}
	return p, err
}

// ParsePage implements [API]. A model that is gone has its old position all the same.
func (Anthropic) ParsePage(q url.Values) (Page, error) {
	p := Page{Limit: anthropicPage, After: q.Get("after_id"), Before: q.Get("before_id")}
	if p.After != "" && p.Before != "" {
		return p, apierror.New(apierror.InvalidValue, "only one of after_id and before_id is possible").WithParam("before_id")
	}
	err := pageNumber(q, "limit", &p.Limit, 1, maxPage+1)
	if err == nil && p.Limit > maxPage { // as at Anthropic
		err = apierror.New(apierror.InvalidValue, "limit must be at most %d", maxPage).WithParam("limit")
	}
	return p, err
}

// pageNumber reads one number of a query, which may be absent. A larger one than most counts as most.
func pageNumber(q url.Values, name string, dst *int, least, most int) error {
	text := q.Get(name)
	if text == "" {
		return nil
	}
	n, err := strconv.Atoi(text)
	if err != nil || n < least {
		return apierror.New(apierror.InvalidValue, "%s must be a whole number of at least %d", name, least).WithParam(name)
	}
	*dst = min(n, most)
	return nil
}

// of returns the page's part of a list, which is sorted by ID, and whether more follows in the
// direction of the page.
func (p Page) of(models []catalog.Model) (part []catalog.Model, more bool) {
	at := func(id string) (int, bool) {
		return slices.BinarySearchFunc(models, id, func(m catalog.Model, id string) int { return strings.Compare(m.ID, id) })
	}
	if p.Before != "" {
		to, _ := at(p.Before)
		from := max(to-p.Limit, 0)
		return models[from:to], from > 0
	}
	from := min(p.Offset, len(models))
	if p.After != "" {
		i, found := at(p.After)
		if from = i; found {
			from++
		}
	}
	to := min(from+p.Limit, len(models))
	return models[from:to], to < len(models)
}
