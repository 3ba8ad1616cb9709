package faults

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"

	"github.com/gatehouse-proxy/gatehouse/internal/testkit/answers"
)

// document is one to rank: a text, or an object that has it.
type document struct {
	Text string `json:"text"`
}

func (d *document) UnmarshalJSON(b []byte) error {
	if json.Unmarshal(b, &d.Text) == nil {
		return nil
	}
	type plain document
	return json.Unmarshal(b, (*plain)(d))
}

// rerankBody reads the body of a call of POST /rerank. The score of a document is
// the share of the query's words that it has.
func rerankBody(_ *http.Request, body []byte) (*answers.Request, func(*call) script, error) {
	var raw struct {
		Model, Query string
		Documents    []document
		TopN         int `json:"top_n"`
	}
	if err := json.Unmarshal(body, &raw); err != nil || raw.Query == "" || len(raw.Documents) == 0 {
		return nil, nil, fmt.Errorf("want query and documents: %w", err)
	}
	words := strings.Fields(strings.ToLower(raw.Query))
	type ranked struct {
		Index    int       `json:"index"`
		Score    float64   `json:"relevance_score"`
		Document *document `json:"document,omitempty"` // OpenRouter's answers always have it
	}
	results := make([]ranked, 0, len(raw.Documents))
	for i, d := range raw.Documents {
		found := 0
		for _, word := range words {
			if strings.Contains(strings.ToLower(d.Text), word) {
				found++
			}
		}
		results = append(results, ranked{Index: i, Score: float64(found) / float64(len(words))})
	}
	if raw.TopN > 0 && raw.TopN < len(results) {
		results = results[:raw.TopN]
	}
	return &answers.Request{Model: raw.Model}, func(c *call) script {
		answer := map[string]any{"id": "rank-1", "results": results}
		units := map[string]any{"search_units": (len(raw.Documents) + 99) / 100}
		switch {
		case c.mode.name == "no-usage":
		case c.api == openRouter:
			for i, r := range results {
				results[i].Document = &raw.Documents[r.Index]
			}
			answer["usage"], answer["model"], answer["provider"] = units, raw.Model, providerName
		default:
			answer["meta"] = map[string]any{"billed_units": units}
		}
		return whole(http.StatusOK, "application/json", answers.Encode(answer))
	}, nil
}

// moderationsBody reads the body of a call of POST /moderations. A text is flagged
// if it has the word "violence".
func moderationsBody(_ *http.Request, body []byte) (*answers.Request, func(*call) script, error) {
	var raw struct {
		Model string
		Input json.RawMessage
	}
	if err := json.Unmarshal(body, &raw); err != nil || raw.Model == "" {
		return nil, nil, fmt.Errorf("want model and input: %w", err)
	}
	var texts []string
	if json.Unmarshal(raw.Input, &texts) != nil {
		texts = []string{string(raw.Input)}
	}
	results := make([]map[string]any, len(texts))
	for i, text := range texts {
		flagged := strings.Contains(text, "violence")
		results[i] = map[string]any{"flagged": flagged, "categories": map[string]bool{"violence": flagged}}
	}
	return &answers.Request{Model: raw.Model}, func(c *call) script {
		answer := map[string]any{"id": "modr-1", "model": raw.Model, "results": results}
		return whole(http.StatusOK, "application/json", answers.Encode(answer))
	}, nil
}
