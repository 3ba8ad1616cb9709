package models

import (
	"context"
	"errors"
	"io"
	"net/http"
	"strings"
	"testing"
	"testing/iotest"
	"testing/synctest"
	"time"

	"go.uber.org/zap"
	"go.uber.org/zap/zaptest/observer"

	"github.com/gatehouse-proxy/gatehouse/internal/catalog"
	_ "github.com/gatehouse-proxy/gatehouse/internal/modelcall/adapter/clouds" // their lists
	_ "github.com/gatehouse-proxy/gatehouse/internal/modelcall/adapter/gemini"
	"github.com/gatehouse-proxy/gatehouse/internal/provider"
)

// listBody answers with what it returns, as the list of a provider.
type listBody func() io.Reader

func (f listBody) RoundTrip(r *http.Request) (*http.Response, error) {
	if err := r.Context().Err(); err != nil {
		return nil, err
	}
	return &http.Response{StatusCode: http.StatusOK, Header: http.Header{}, Body: io.NopCloser(f())}, nil
}

// startDiscovery reads the lists of one provider every minute.
func startDiscovery(t *testing.T, ctx context.Context, lists *Lists, logger *zap.Logger, body listBody) *catalog.Catalog {
	t.Helper()
	p, err := provider.New(provider.Config{Name: "acme", Endpoints: provider.One("http://acme.invalid/v1", ""), Transport: body, UserAgent: "gatehouse"})
	if err != nil {
		t.Fatal(err)
	}
	c, err := catalog.NewCatalog(nil, []catalog.Source{{Provider: "acme", Discover: true}})
	if err != nil {
		t.Fatal(err)
	}
	redact := func(text string) string { return strings.ReplaceAll(text, "hunter2", "***") }
	newDiscovery([]Discovery{{Provider: p, Every: time.Minute}}, c, lists, redact, logger).start(ctx)
	return c
}

func namesIn(c *catalog.Catalog) string {
	var names []string
	for _, m := range c.List(nil) {
		names = append(names, m.Name)
	}
	return strings.Join(names, " ")
}

func TestAListThatIsCutOffIsNoList(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		core, lines := observer.New(zap.WarnLevel)
		ctx, end := context.WithCancel(t.Context())
		asked := 0
		c := startDiscovery(t, ctx, new(Lists), zap.New(core), func() io.Reader {
			if asked++; asked == 1 {
				return strings.NewReader(`{"data":[{"id":"a"}]}`)
			}
			return io.MultiReader(strings.NewReader(`{"data":[{"id":"b"}`), iotest.ErrReader(errors.New("reset, hunter2")))
		})
		time.Sleep(time.Minute) // the bubble's clock
		synctest.Wait()
		if got := namesIn(c); got != "a" {
			t.Errorf("models %q, want the last list", got)
		}
		if all := lines.All(); len(all) != 1 || all[0].ContextMap()["cause"] != "reset, ***" {
			t.Errorf("logged %v", all)
		}
		end()
	})
}

func TestAConfigurationThatEndedReadsNoListAndLogsNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		core, lines := observer.New(zap.WarnLevel)
		ctx, end := context.WithCancel(t.Context())
		asked := 0
		startDiscovery(t, ctx, new(Lists), zap.New(core), func() io.Reader {
			asked++
			end() // while the provider answers
			return strings.NewReader("<html>")
		})
		time.Sleep(time.Hour)
		synctest.Wait()
		if asked != 1 || lines.Len() != 0 {
			t.Errorf("asked %d times, logged %v", asked, lines.All())
		}
	})
}

func TestAListIsKnownToTheNextConfigurationAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		lists := new(Lists)
		ctx, end := context.WithCancel(t.Context())
		startDiscovery(t, ctx, lists, zap.NewNop(), func() io.Reader { return strings.NewReader(`{"data":[{"id":"a"}]}`) })
		synctest.Wait()
		answer := make(chan struct{})
		next := startDiscovery(t, ctx, lists, zap.NewNop(), func() io.Reader { <-answer; return strings.NewReader(`{"data":[{"id":"b"}]}`) })
		if got := namesIn(next); got != "a" {
			t.Errorf("models %q before the provider has answered", got)
		}
		close(answer)
		synctest.Wait()
		if got := namesIn(next); got != "b" {
			t.Errorf("models %q", got)
		}
		end()
	})
}

// roundTrip is a provider's transport.
type roundTrip func(*http.Request) (*http.Response, error)

func (f roundTrip) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

// Anthropic's list has pages, and no request without a version.
func TestAListWithPagesIsReadToItsEnd(t *testing.T) {
	var asked []string
	pages := map[string]string{
		"limit=1000":              `{"data":[{"type":"model","id":"a","display_name":"A","created_at":"2026-02-04T00:00:00Z"},{"type":"model","id":"b"}],"has_more":true,"first_id":"a","last_id":"b"}`,
		"after_id=b&limit=1000":   `{"data":[{"type":"model","id":"c d"}],"has_more":true,"first_id":"c d","last_id":"c d"}`,
		"after_id=c+d&limit=1000": `{"data":[],"has_more":false,"first_id":null,"last_id":null}`,
	}
	p, err := provider.New(provider.Config{
		Name: "claude", Dialect: provider.Anthropic, Endpoints: provider.One("https://claude.invalid", "secret"), UserAgent: "gatehouse",
		Transport: roundTrip(func(r *http.Request) (*http.Response, error) {
			if r.URL.Path != "/v1/models" || r.Header.Get("Anthropic-Version") == "" || r.Header.Get("X-Api-Key") != "secret" {
				t.Errorf("asked %s with %v", r.URL, r.Header)
			}
			asked = append(asked, r.URL.RawQuery)
			return &http.Response{StatusCode: http.StatusOK, Header: http.Header{}, Body: io.NopCloser(strings.NewReader(pages[r.URL.RawQuery]))}, nil
		}),
	})
	if err != nil {
		t.Fatal(err)
	}
	models, odd, err := fetchModels(t.Context(), p)
	if err != nil || odd != nil || len(models) != 3 || models[0].ID != "claude/a" || models[2].Name != "c d" || len(asked) != 3 {
		t.Fatalf("%+v, %v, %v, asked %q", models, odd, err, asked)
	}
	if m := models[0]; m.DisplayName != "A" || m.Created != 1770163200 {
		t.Errorf("%+v", m)
	}
}

func TestAListThatGoesRoundInACircleIsRefused(t *testing.T) {
	n := 0
	p, err := provider.New(provider.Config{
		Name: "claude", Dialect: provider.Anthropic, Endpoints: provider.One("https://claude.invalid", ""), UserAgent: "gatehouse",
		Transport: roundTrip(func(r *http.Request) (*http.Response, error) {
			n++
			last := []string{"a", "b"}[n%2]
			return &http.Response{StatusCode: http.StatusOK, Header: http.Header{}, Body: io.NopCloser(strings.NewReader(
				`{"data":[{"id":"a"},{"id":"b"}],"has_more":true,"last_id":"` + last + `"}`))}, nil
		}),
	})
	if err != nil {
		t.Fatal(err)
	}
	if _, _, err := fetchModels(t.Context(), p); err == nil || n != maxListPages {
		t.Errorf("%v after %d pages", err, n)
	}
}

// The link to the next page decides nothing but the query: the credential goes to the host that is
// known.
func TestTheListsOfACloudAreReadAsOne(t *testing.T) {
	for name, c := range map[string]struct {
		dialect string
		place   provider.Place
		pages   map[string]string
		want    string
	}{
		"azure": {"", provider.Place{Resource: "acme", Project: "p"}, map[string]string{
			"https://acme.services.ai.azure.com/api/projects/p/deployments?api-version=v1":        `{"value":[{"type":"ModelDeployment","name":"a","modelName":"x"}],"nextLink":"https://evil.invalid/other?api-version=v1&skip=1"}`,
			"https://acme.services.ai.azure.com/api/projects/p/deployments?api-version=v1&skip=1": `{"value":[{"type":"ModelDeployment","name":"b","modelName":"x"}],"nextLink":"https://evil.invalid/other?api-version=v1&skip=1"}`,
		}, "a b"},
		"bedrock": {"", provider.Place{Region: "us-east-1"}, map[string]string{
			"https://bedrock.us-east-1.amazonaws.com/foundation-models?byInferenceType=ON_DEMAND":        `{"modelSummaries":[{"modelId":"amazon.nova-pro-v1:0"}]}`,
			"https://bedrock.us-east-1.amazonaws.com/inference-profiles?maxResults=1000":                 `{"inferenceProfileSummaries":[{"inferenceProfileId":"us.a","type":"SYSTEM_DEFINED"}],"nextToken":"x+y"}`,
			"https://bedrock.us-east-1.amazonaws.com/inference-profiles?maxResults=1000&nextToken=x%2By": `{"inferenceProfileSummaries":[{"inferenceProfileId":"us.b","type":"SYSTEM_DEFINED"}]}`,
		}, "amazon.nova-pro-v1:0 us.a us.b"},
		"vertex": {"", provider.Place{Project: "p"}, map[string]string{
			"https://aiplatform.googleapis.com/v1beta1/publishers/google/models?pageSize=100":             `{"publisherModels":[{"name":"publishers/google/models/gemini-x"}],"nextPageToken":"n"}`,
			"https://aiplatform.googleapis.com/v1beta1/publishers/google/models?pageSize=100&pageToken=n": `{"publisherModels":[{"name":"publishers/google/models/gemini-y"}]}`,
		}, "gemini-x gemini-y"},
	} {
		asked := 0
		p, err := provider.New(provider.Config{
			Name: "cloud", Dialect: c.dialect, Endpoints: []provider.EndpointConfig{{Place: c.place}}, UserAgent: "gatehouse",
			Transport: roundTrip(func(r *http.Request) (*http.Response, error) {
				asked++
				body, known := c.pages[r.URL.String()]
				if !known {
					t.Errorf("%s: asked %s", name, r.URL)
				}
				return &http.Response{StatusCode: http.StatusOK, Header: http.Header{}, Body: io.NopCloser(strings.NewReader(body))}, nil
			}),
		})
		if err != nil {
			t.Fatal(err)
		}
		models, odd, err := fetchModels(t.Context(), p)
		names := make([]string, len(models))
		for i, m := range models {
			names[i] = m.Name
		}
		if got := strings.Join(names, " "); err != nil || odd != nil || got != c.want || asked != len(c.pages) {
			t.Errorf("%s: %q after %d pages, %v, %v", name, got, asked, odd, err)
		}
	}
}
