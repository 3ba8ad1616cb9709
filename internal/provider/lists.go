package provider

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
)

// lists returns the addresses of the lists of what can be called at a place, nil for that of the dialect.
// Sources as those of bases.
func (p Place) lists(baseURL, dialect string) []string {
	baseURL = strings.TrimRight(baseURL, "/")
	root := strings.TrimSuffix(strings.TrimSuffix(baseURL, anthropicV1), openAIV1)
	control, runtime := strings.CutPrefix(root, "https://bedrock-runtime")
	before, below, _ := strings.Cut(baseURL, "/projects/")
	_, publisher, vertex := strings.Cut(below, "/publishers/")
	switch at := p.cloud(); {
	case at == azure && p.Project != "": // has what is not OpenAI's, too
		root = strings.Replace(root, p.Resource+".openai.azure.com", p.Resource+".services.ai.azure.com", 1)
		return []string{root + "/api/projects/" + p.Project + "/deployments?api-version=v1"}
	case at == azure && root+openAIV1 == baseURL: // its /models is the catalogue of the region
		return []string{root + "/openai/deployments?api-version=2023-03-15-preview"} // the last version that has it
	case vertex:
		return []string{before[:strings.LastIndex(before, "/")] + "/v1beta1/publishers/" + publisher + "/models?pageSize=100"}
	case at == ServiceBedrock && runtime:
		return BedrockLists("https://bedrock" + control) // the control plane
	}
	if lists := dialectNamed(dialect).Lists; lists != nil {
		return lists(root)
	}
	return nil
}

// After returns the page that follows a page of the lists of models, "" for none. Next are the parameters
// of the query by which the page says that its list goes on, "" at the end of it.
func (e *Endpoint) After(page, next string) string {
	list, query := pageOf(page)
	switch {
	case next != "" && next != query && e.lists[list].RawQuery != "": // one that stays there would have no end
		return fmt.Sprintf("%d?%s", list, next)
	case list+1 < len(e.lists):
		return strconv.Itoa(list + 1)
	}
	return ""
}

// pageOf returns the list of a page, and its query besides that of the list.
func pageOf(page string) (list int, query string) {
	n, query, _ := strings.Cut(page, "?")
	list, _ = strconv.Atoi(n)
	return list, query
}

// GetModels fetches a page of the endpoint's lists of models, "" for the first.
func (e *Endpoint) GetModels(ctx context.Context, page string) (*http.Response, error) {
	if len(e.lists) == 0 {
		return nil, errors.New("this endpoint has no list of models")
	}
	req := e.request(ctx, Request{Operation: Models})
	list, query := pageOf(page)
	target := *e.lists[list]
	if query != "" {
		all := target.Query()
		own, _ := url.ParseQuery(query) // what there is of it
		maps.Copy(all, own)
		target.RawQuery = all.Encode()
	}
	req.URL, req.Host = &target, target.Host
	if err := e.peer.sign(req); err != nil {
		return nil, err
	}
	resp, err := roundTrip(e.peer.Transport, req)
	if err == nil && e.peer.renews(resp) { // the next read has a new one
		_ = resp.Body.Close()
		return nil, errors.New("the provider refused the gateway's credential")
	}
	return resp, err
}

// ListsModels reports whether there is a list of models, also one of which not all can be called.
func (p *Provider) ListsModels() bool {
	return slices.ContainsFunc(p.Endpoints, func(e *Endpoint) bool { return len(e.lists) > 0 })
}

// FoundationModels is the path of Bedrock's list of models.
const FoundationModels = "/foundation-models"

// BedrockLists are the addresses of what can be called on demand.
func BedrockLists(root string) []string {
	return []string{root + FoundationModels + "?byInferenceType=ON_DEMAND", root + "/inference-profiles?maxResults=1000"}
}
