package faults

import (
	"net/http"
	"strconv"

	"github.com/gatehouse-proxy/gatehouse/internal/testkit/answers"
	"github.com/gatehouse-proxy/gatehouse/internal/testkit/clouds"
)

// control serves the methods of a provider that runs in a process of its own.
func control(p *Provider) {
	p.mux.HandleFunc("GET /_control/requests", func(w http.ResponseWriter, _ *http.Request) { showRequests(w, p.Requests()) })
	p.mux.HandleFunc("GET /_control/clouds", func(w http.ResponseWriter, _ *http.Request) {
		showClouds(w, map[string][]clouds.Request{"claude": p.Claude.Requests(), "converse": p.Converse.Requests()})
	})
	p.mux.HandleFunc("POST /_control/become", func(w http.ResponseWriter, r *http.Request) {
		q := r.URL.Query()
		answerControl(w, p.Become(q.Get("model"), q.Get("as")))
	})
	p.mux.HandleFunc("POST /_control/step", func(w http.ResponseWriter, r *http.Request) {
		n, err := strconv.Atoi(r.URL.Query().Get("n"))
		answerControl(w, err == nil && n > 0 && p.Step(r.URL.Query().Get("model"), n))
	})
	p.mux.HandleFunc("POST /_control/reset", func(w http.ResponseWriter, _ *http.Request) {
		p.Reset()
		answerControl(w, true)
	})
}

func answerControl(w http.ResponseWriter, done bool) {
	if done {
		w.WriteHeader(http.StatusNoContent)
	} else {
		w.WriteHeader(http.StatusBadRequest)
	}
}

// showClouds answers with what arrived at the faces of clouds, as it was sent.
func showClouds(w http.ResponseWriter, requests map[string][]clouds.Request) {
	type view struct {
		Path   string      `json:"path"`
		Header http.Header `json:"header"`
		Body   string      `json:"body"`
	}
	views := map[string][]view{}
	for cloud, list := range requests {
		for _, r := range list {
			views[cloud] = append(views[cloud], view{r.Path, r.Header, string(r.Body)})
		}
	}
	w.Header().Set("Content-Type", "application/json")
	_, _ = w.Write(answers.Encode(views)) // the test left: nobody to tell
}

// showRequests answers with the record as a JSON list. Bodies show as text; bytes
// that are not UTF-8 show as U+FFFD.
func showRequests(w http.ResponseWriter, requests []Request) {
	type view struct {
		Request
		Body string `json:"body"`
	}
	views := []view{}
	for _, req := range requests {
		views = append(views, view{req, string(req.Body)})
	}
	w.Header().Set("Content-Type", "application/json")
	_, _ = w.Write(answers.Encode(views)) // the test left: nobody to tell
}
