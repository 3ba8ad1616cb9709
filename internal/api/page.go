package api

import (
	"net/url"
	"strconv"

	"github.com/gatehouse-proxy/gatehouse/internal/apierror"
	"github.com/gatehouse-proxy/gatehouse/internal/catalog"
)

// The sizes of a page of OpenRouter's model list.
const (
	defaultPage = 500
	maxPage     = 1000
)

// Page is the part of a list that was asked for.
type Page struct{ Offset, Limit int }

// ParsePage reads offset and limit. OpenRouter's Go SDK asks for pages until one is empty: it would
// never end if an offset were ignored. The error is a 400.
func ParsePage(q url.Values) (Page, error) {
	p := Page{Limit: defaultPage}
	for _, field := range []struct {
		name     string
		dst      *int
		min, max int
	}{{"offset", &p.Offset, 0, catalog.MaxModels}, {"limit", &p.Limit, 1, maxPage}} {
		text := q.Get(field.name)
		if text == "" {
			continue
		}
		n, err := strconv.Atoi(text)
		if err != nil || n < field.min {
			return p, apierror.New(apierror.InvalidValue, "%s must be a whole number of at least %d", field.name, field.min).WithParam(field.name)
		}
		*field.dst = min(n, field.max)
	}
	return p, nil
}

// of returns the page's part of a list, and whether more follows.
func (p Page) of(models []catalog.Model) (part []catalog.Model, more bool) {
	from := min(p.Offset, len(models))
	to := min(from+p.Limit, len(models))
	return models[from:to], to < len(models)
}
