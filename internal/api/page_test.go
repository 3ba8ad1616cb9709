package api

import (
	"net/url"
	"strings"
	"testing"

	"github.com/gatehouse-proxy/gatehouse/internal/apierror"
	"github.com/gatehouse-proxy/gatehouse/internal/catalog"
)

func TestParsePage(t *testing.T) {
	for query, want := range map[string]Page{
		"":                           {Offset: 0, Limit: 500},
		"offset=3&limit=2":           {Offset: 3, Limit: 2},
		"limit=1000000":              {Offset: 0, Limit: 1000},
		"offset=1000000000":          {Offset: catalog.MaxModels, Limit: 500},
		"offset=0&limit=1":           {Offset: 0, Limit: 1},
		"category=programming&foo=1": {Offset: 0, Limit: 500},
	} {
		values, _ := url.ParseQuery(query)
		if got, err := offsetPage(values); got != want || err != nil {
			t.Errorf("%q: %+v, %v, want %+v", query, got, err, want)
		}
	}
	for query, param := range map[string]string{
		"offset=-1": "offset", "offset=x": "offset", "offset=1.5": "offset", "limit=0": "limit", "limit=-5": "limit",
		"limit=99999999999999999999": "limit",
	} {
		values, _ := url.ParseQuery(query)
		_, err := offsetPage(values)
		if e := apierror.From(err); err == nil || e.Code != apierror.InvalidValue || e.Param != param {
			t.Errorf("%q: %v", query, err)
		}
	}
}

func TestAnthropicRefusesLongerPages(t *testing.T) {
	if p, err := (Anthropic{}).ParsePage(url.Values{"limit": {"1000"}}); err != nil || p.Limit != 1000 {
		t.Errorf("%+v, %v", p, err)
	}
	if _, err := (Anthropic{}).ParsePage(url.Values{"limit": {"1001"}}); apierror.From(err).Param != "limit" {
		t.Errorf("limit=1001: %v", err)
	}
}

// A client that goes from page to page sees every model once, and then an empty page.
func TestPagesCoverTheList(t *testing.T) {
	models := make([]catalog.Model, 7)
	for i := range models {
		models[i].ID = string(rune('a' + i))
	}
	var seen strings.Builder
	for p := (Page{Limit: 3}); ; p.Offset += p.Limit {
		part, more := p.of(models)
		for _, m := range part {
			seen.WriteString(m.ID)
		}
		if more != (p.Offset+3 < 7) {
			t.Errorf("offset %d: more is %v", p.Offset, more)
		}
		if len(part) == 0 {
			break
		}
	}
	if seen.String() != "abcdefg" {
		t.Errorf("saw %q", seen.String())
	}
}
