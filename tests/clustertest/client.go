//go:build unix

package clustertest

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"math/big"
	"net/http"
	"strings"
	"time"
)

// callTimeout ends a call that hangs.
const callTimeout = time.Minute

// transport keeps connections for many clients at once.
var transport = &http.Transport{MaxIdleConnsPerHost: 256, DisableCompression: true}

// Client calls one gateway, or the balancer, with one key.
type Client struct{ Origin, Key string }

// Answer is a whole answer.
type Answer struct {
	Status int
	Header http.Header
	Body   []byte
	Took   time.Duration
}

// Code is the error code of an answer of the OpenAI API, "" without one.
func (a Answer) Code() string {
	var body struct{ Error struct{ Code any } }
	if json.Unmarshal(a.Body, &body) != nil || body.Error.Code == nil {
		return ""
	}
	return fmt.Sprint(body.Error.Code)
}

func (a Answer) String() string { return fmt.Sprintf("%d %.300s", a.Status, bytes.TrimSpace(a.Body)) }

// Open makes a call and returns with its header. The caller closes the body.
func (c Client) Open(ctx context.Context, method, path, body string) (*http.Response, error) {
	var reader io.Reader
	if body != "" {
		reader = strings.NewReader(body)
	}
	r, err := http.NewRequestWithContext(ctx, method, c.Origin+path, reader)
	if err != nil {
		return nil, err
	}
	if body != "" {
		r.Header.Set("Content-Type", "application/json")
	}
	if c.Key != "" {
		r.Header.Set("Authorization", "Bearer "+c.Key)
	}
	return transport.RoundTrip(r)
}

// Do makes a call and reads the whole answer.
func (c Client) Do(ctx context.Context, method, path, body string) (Answer, error) {
	ctx, cancel := context.WithTimeout(ctx, callTimeout)
	defer cancel()
	began := time.Now()
	resp, err := c.Open(ctx, method, path, body)
	if err != nil {
		return Answer{}, err
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	return Answer{resp.StatusCode, resp.Header, text, time.Since(began)}, err
}

// Budget is what a gateway says about a budget, in nano-USD.
type Budget struct{ Limit, Spent, Reserved int64 }

// Budgets are those of the key, of money.
func (c Client) Budgets(ctx context.Context) ([]Budget, error) {
	a, err := c.Do(ctx, http.MethodGet, "/api/v1/key", "")
	if err != nil {
		return nil, err
	}
	var body struct {
		Data struct {
			Budgets []struct {
				Unit                   string
				Limit, Spent, Reserved json.Number
			}
		}
	}
	if err := json.Unmarshal(a.Body, &body); err != nil || a.Status != http.StatusOK {
		return nil, fmt.Errorf("GET /api/v1/key: %s: %w", a, err)
	}
	var all []Budget
	for _, b := range body.Data.Budgets {
		if b.Unit != "tokens" {
			all = append(all, Budget{Nano(b.Limit), Nano(b.Spent), Nano(b.Reserved)})
		}
	}
	return all, nil
}

// Row is a row of the activity.
type Row struct {
	RequestID  string      `json:"request_id"`
	ID         string      `json:"id"`
	Status     int         `json:"status"`
	Code       string      `json:"code"`
	Key        string      `json:"key"`
	Route      string      `json:"route"`
	Source     string      `json:"usage_source"`
	Completion int         `json:"completion_tokens"`
	USD        json.Number `json:"usage"`
}

// Rows are all rows that the key may read and that match the query ("key=crowd").
func (c Client) Rows(ctx context.Context, query string) (all []Row, err error) {
	for cursor := ""; ; {
		a, err := c.Do(ctx, http.MethodGet, "/api/v1/activity?limit=1000&"+query+cursor, "")
		if err != nil {
			return nil, err
		}
		var page struct {
			Data []Row  `json:"data"`
			Next string `json:"next_cursor"`
		}
		if err := json.Unmarshal(a.Body, &page); err != nil || a.Status != http.StatusOK {
			return nil, fmt.Errorf("GET /api/v1/activity: %s: %w", a, err)
		}
		all = append(all, page.Data...)
		if page.Next == "" {
			return all, nil
		}
		cursor = "&cursor=" + page.Next
	}
}

// Sum is the cost of rows in nano-USD.
func Sum(rows []Row) (nano int64) {
	for _, r := range rows {
		nano += Nano(r.USD)
	}
	return nano
}

// Nano is an amount in nano-USD. It is exact: a float is not.
func Nano(usd json.Number) int64 {
	if usd == "" {
		return 0
	}
	r, ok := new(big.Rat).SetString(usd.String())
	if !ok {
		return -1 << 62 // equal to nothing
	}
	r.Mul(r, big.NewRat(1e9, 1))
	if !r.IsInt() {
		return -1<<62 + 1
	}
	return r.Num().Int64()
}

// Chat is the body of a call of a model. user is what the provider counts calls by.
func Chat(model, user, more string) string {
	return `{"model":"` + model + `","user":"` + user + `","messages":[{"role":"user","content":"say hello"}]` + more + `}`
}
