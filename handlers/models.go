package handlers

import (
	"net/url"
	"strconv"

	"github.com/gatehouse-proxy/gatehouse/internal/apierror"
	"github.com/gatehouse-proxy/gatehouse/internal/catalog"
)

// Paging of the second family's list (OpenRouter's own bounds).
const (
	defaultPage = 500
	maxPage     = 1000
)

// page is the part of a list that was asked for.
type page struct{ offset, limit int }

// serveModels answers with the callable models of the key, or with the one
// that the path names.
func serveModels(x *exchange) error {
	if x.name != "" {
		model, err := x.gateway.Model(x.r.Context(), x.call.Credential.Key, x.name)
		if err != nil {
			return err
		}
		return x.succeed(x.family.appendModel(nil, model))
	}
	q, err := x.query()
	if err != nil {
		return err
	}
	p, err := parsePage(q)
	if err != nil {
		return err
	}
	models, err := x.gateway.Models(x.r.Context(), x.call.Credential.Key)
	if err != nil {
		return err
	}
	return x.succeed(x.family.appendModels(nil, models, p))
}

// succeed answers 200.
func (x *exchange) succeed(body []byte) error {
	x.call.Succeed(200)
	x.writeJSON(200, body)
	return nil
}

// parsePage reads offset and limit. The Go SDK of the second family asks for
// pages until one is empty: an offset that is ignored would never end (trap 1).
func parsePage(q url.Values) (page, error) {
	p := page{limit: defaultPage}
	for _, field := range []struct {
		name     string
		dst      *int
		min, max int
	}{{"offset", &p.offset, 0, catalog.MaxModels}, {"limit", &p.limit, 1, maxPage}} {
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
func (p page) of(models []catalog.Model) (part []catalog.Model, more bool) {
	from := min(p.offset, len(models))
	to := min(from+p.limit, len(models))
	return models[from:to], to < len(models)
}
