package fake

import (
	"context"
	"encoding/json"
	"net/http"
	"strconv"
	"time"
)

// The control of a provider in a process of its own:
//
//	GET    /_control/requests     the record as a JSON list; with min=N, ended=N or
//	                              gone=N it waits until so many arrived, ended, or lost
//	                              their client, at most timeout (a Go duration, 5s);
//	                              504 with the list as it is when that has passed
//	DELETE /_control/requests     forget the record and all tokens
//	POST   /_control/step         id=step&n=1: tokens for step and stall
//	PUT    /_control/models       a JSON list of names: /models lists just these;
//	                              null: all again; status=NNN: /models fails
//	GET    /_control/behaviours   model names and what they do

// defaultWait keeps a test that waits for nothing from hanging.
const defaultWait = 5 * time.Second

// maxControlBody bounds the list of models.
const maxControlBody = 1 << 20

func (p *Provider) control() {
	p.mux.HandleFunc("GET /_control/requests", p.showRequests)
	p.mux.HandleFunc("DELETE /_control/requests", func(w http.ResponseWriter, _ *http.Request) {
		p.Reset()
		w.WriteHeader(http.StatusNoContent)
	})
	p.mux.HandleFunc("POST /_control/step", p.giveTokens)
	p.mux.HandleFunc("PUT /_control/models", p.changeModels)
	p.mux.HandleFunc("GET /_control/behaviours", func(w http.ResponseWriter, _ *http.Request) {
		_, about := Behaviours()
		answerJSON(w, http.StatusOK, about)
	})
}

// requestView shows the body as text; bytes that are not UTF-8 show as U+FFFD.
type requestView struct {
	Request
	Body string `json:"body"`
}

func (p *Provider) showRequests(w http.ResponseWriter, r *http.Request) {
	query := r.URL.Query()
	want := make(map[string]int)
	for _, key := range []string{"min", "ended", "gone"} {
		n, err := strconv.Atoi(query.Get(key))
		if err != nil && query.Has(key) {
			http.Error(w, "bad "+key, http.StatusBadRequest)
			return
		}
		want[key] = n
	}
	timeout, err := time.ParseDuration(query.Get("timeout"))
	if err != nil {
		if query.Has("timeout") {
			http.Error(w, "bad timeout", http.StatusBadRequest)
			return
		}
		timeout = defaultWait
	}
	ctx, cancel := context.WithTimeout(r.Context(), timeout)
	defer cancel()
	list, err := p.Wait(ctx, func(list []Request) bool {
		ended, gone := 0, 0
		for _, req := range list {
			if !req.EndedAt.IsZero() {
				ended++
			}
			if req.ClientGone {
				gone++
			}
		}
		return len(list) >= want["min"] && ended >= want["ended"] && gone >= want["gone"]
	})
	status := http.StatusOK
	if err != nil {
		status = http.StatusGatewayTimeout
	}
	views := make([]requestView, len(list))
	for i, req := range list {
		views[i] = requestView{req, string(req.Body)}
	}
	answerJSON(w, status, views)
}

func (p *Provider) giveTokens(w http.ResponseWriter, r *http.Request) {
	id, n := "step", 1
	query := r.URL.Query()
	if query.Has("id") {
		id = query.Get("id")
	}
	if query.Has("n") {
		var err error
		if n, err = strconv.Atoi(query.Get("n")); err != nil || n < 1 {
			http.Error(w, "bad n", http.StatusBadRequest)
			return
		}
	}
	if !p.Step(id, n) {
		http.Error(w, "too many tokens or ids", http.StatusConflict)
		return
	}
	w.WriteHeader(http.StatusNoContent)
}

func (p *Provider) changeModels(w http.ResponseWriter, r *http.Request) {
	if status := r.URL.Query().Get("status"); status != "" {
		n, err := strconv.Atoi(status)
		if err != nil || n < 400 || n > 599 {
			http.Error(w, "bad status", http.StatusBadRequest)
			return
		}
		p.FailModels(n)
		w.WriteHeader(http.StatusNoContent)
		return
	}
	var names []string
	if err := json.NewDecoder(http.MaxBytesReader(w, r.Body, maxControlBody)).Decode(&names); err != nil {
		http.Error(w, "bad list", http.StatusBadRequest)
		return
	}
	p.SetModels(names)
	w.WriteHeader(http.StatusNoContent)
}

func answerJSON(w http.ResponseWriter, status int, v any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_, _ = w.Write(encode(v)) // the test left: nobody to tell
}
