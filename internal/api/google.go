package api

import (
	"net/http"
	"net/url"
	"time"

	"github.com/gatehouse-proxy/gatehouse/internal/apierror"
	"github.com/gatehouse-proxy/gatehouse/internal/catalog"
	"github.com/gatehouse-proxy/gatehouse/internal/gemini"
	"github.com/gatehouse-proxy/gatehouse/internal/request"
)

// Google is the family of Google's GenAI SDKs. Its paths are below /v1beta/; the SDKs have the same below
// /v1/ and /v1alpha/.
type Google struct{}

// GoogleKeyHeader is where Google's SDKs send the key.
const GoogleKeyHeader = gemini.KeyHeader

// Name implements [API].
func (Google) Name() string { return "google" }

// ShowIDs implements [API].
func (Google) ShowIDs(h http.Header, ids request.IDs) { h[RequestIDHeader] = []string{ids.RequestID} }

// AppendError implements [API].
func (Google) AppendError(dst []byte, e *apierror.Error, requestID string) []byte {
	return gemini.AppendError(dst, e, requestID)
}

// ShowRate implements [wire.API]: Google's SDKs know no headers of rates.
func (Google) ShowRate(http.Header, *apierror.Rate, time.Time) {}

// ShowRefusal implements [API]. What a refusal says of a rate is in its body.
func (Google) ShowRefusal(http.Header, *apierror.Error, time.Time) {}

// ParsePage implements [API]. The token of a page is the last model of the one before.
func (Google) ParsePage(q url.Values) (Page, error) {
	p := Page{Limit: googlePage, After: q.Get("pageToken"), outputs: "all"}
	return p, pageNumber(q, "pageSize", &p.Limit, 1, maxPage)
}

// AppendModel implements [API].
func (Google) AppendModel(dst []byte, m catalog.Model) []byte {
	return gemini.AppendModel(dst, googleModel(m))
}

// AppendModels implements [API].
func (Google) AppendModels(dst []byte, models []catalog.Model, p Page) []byte {
	part, more := p.of(p.shown(models))
	list, next := make([]gemini.Model, len(part)), ""
	for i, m := range part {
		list[i] = googleModel(m)
	}
	if more && len(part) > 0 {
		next = part[len(part)-1].ID
	}
	return gemini.AppendModelList(dst, list, next)
}

// googleMethods are the methods of Google's API, by what serves them.
var googleMethods = []struct {
	op     string
	method string
}{
	{catalog.OpGenerateContent, "generateContent"}, {catalog.OpGenerateContent, "streamGenerateContent"}, {catalog.OpCountContent, "countTokens"},
	{catalog.OpEmbedContent, "embedContent"}, {catalog.OpBatchEmbedContents, "batchEmbedContents"},
}

func googleModel(m catalog.Model) gemini.Model {
	out := gemini.Model{ID: m.ID, DisplayName: m.DisplayName, Description: m.Description, ContextLength: m.ContextLength, MaxOutput: m.MaxOutput}
	for _, of := range googleMethods {
		if m.Serves(of.op) {
			out.Methods = append(out.Methods, of.method)
		}
	}
	return out
}
