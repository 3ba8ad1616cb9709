//go:build linux

package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"os"
	"strings"

	"github.com/gatehouse-proxy/gatehouse/tests/process"
)

const activityPath = "/api/v1/activity"

// activityOf is the path of a key's calls.
func activityOf(name string) string { return activityPath + "?key=" + url.QueryEscape(name) }

// asked is one request of a client, as the gateway's access log has it.
type asked struct {
	Request struct {
		Method  string              `json:"method"`
		URI     string              `json:"uri"`
		Headers map[string][]string `json:"headers"`
	} `json:"request"`
	Status int `json:"status"`
}

func (a asked) String() string {
	upgrade := ""
	if len(a.Request.Headers["Upgrade"]) > 0 {
		upgrade = " (upgrade)"
	}
	return fmt.Sprintf("%s %s%s %d", a.Request.Method, a.Request.URI, upgrade, a.Status)
}

var errNotLogged = errors.New("the access log lacks the last request")

// requests are the requests to the gateway since the last call. The log has all of them when it has
// the query of the key's activity that came after them.
func (g *gateway) requests(ctx context.Context, name string) (list []asked, err error) {
	err = process.Eventually(ctx, logTimeout, func() error {
		text, err := os.ReadFile(g.log)
		if err != nil {
			return err
		}
		list = nil
		last := false
		fresh := text[g.logged:]
		for line := range bytes.Lines(fresh) {
			var a asked
			if err := json.Unmarshal(line, &a); err != nil {
				return err // half a line
			}
			last = a.Request.URI == activityOf(name)
			if !strings.HasPrefix(a.Request.URI, activityPath) && !strings.HasPrefix(a.Request.URI, "/v1/sessions") {
				list = append(list, a)
			}
		}
		if !last {
			return errNotLogged
		}
		g.logged = len(text)
		return nil
	})
	return list, err
}
