package messagesoncloud

import (
	"bytes"
	"encoding/base64"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"github.com/gatehouse-proxy/gatehouse/internal/anthropic"
	"github.com/gatehouse-proxy/gatehouse/internal/apierror"
	"github.com/gatehouse-proxy/gatehouse/internal/jsonscan"
	"github.com/gatehouse-proxy/gatehouse/internal/translate"
	"github.com/gatehouse-proxy/gatehouse/internal/translate/aws"
)

// betaFields are the fields of a request that only beta features know, by what the names of these begin
// with. The platforms refuse them without the feature.
var betaFields = []struct {
	name    string
	betas   []string // none: no platform has the field
	refused bool     // the answer would be another one without the field
}{
	{"context_management", []string{"context-management-", "compact-"}, false},
	{"container", []string{"code-execution-", "skills-"}, true},
	{"mcp_servers", []string{"mcp-client-"}, true},
	{"inference_geo", nil, true},
	{"service_tier", nil, false},
	{"speed", []string{"fast-mode-"}, false},
}

// Request edits a Messages request for the platform, and returns its header and what it is sent without:
// fields, and beta features. Extra are beta features that the platform knows besides the usual ones.
func (p *Platform) Request(b *jsonscan.Body, caller http.Header, extra []string, stream bool) (header http.Header, leftOut []string, err error) {
	betas, leftOut := p.known(caller[anthropic.BetaHeader], extra)
	for _, f := range betaFields {
		i, has := b.Find(f.name)
		if !has || slices.ContainsFunc(betas, func(beta string) bool { return hasPrefix(beta, f.betas) }) {
			continue
		}
		if f.refused {
			return nil, nil, apierror.New(apierror.UnsupportedParameter, "%q is not possible with Claude on %s", f.name, p.name).WithParam(f.name)
		}
		b.Drop(i)
		leftOut = append(leftOut, f.name)
	}
	if p.modelInPath {
		drop(b, "model")
	}
	if p.streamInPath {
		drop(b, "stream")
	}
	drop(b, bodyVersion)
	b.Add(bodyVersion, jsonscan.AppendString(nil, p.version(caller.Get(anthropic.VersionHeader))))
	header = http.Header{}
	if stream && p.frames {
		header["Accept"] = []string{aws.ContentType}
	}
	switch {
	case len(betas) == 0:
	case p.betasInBody:
		drop(b, bodyBetas)
		b.Add(bodyBetas, appendStrings(nil, betas))
	default:
		header[anthropic.BetaHeader] = []string{strings.Join(betas, ",")}
	}
	return header, leftOut, nil
}

// CountRequest returns the request of Bedrock's CountTokens for a request that [Platform.Request] has
// edited. It is that of a call, which has an output limit.
func CountRequest(b *jsonscan.Body) []byte {
	if _, has := b.Find("max_tokens"); !has {
		var unread error // a wrong budget is the provider's to refuse
		thinking, _ := translate.Read(b, &unread).Object("thinking")
		_, budget := thinking.Int("budget_tokens", 0) // that the limit must exceed
		b.Add("max_tokens", strconv.AppendInt(nil, budget+1, 10))
	}
	out := []byte(`{"input":{"invokeModel":{"body":"`)
	out = base64.StdEncoding.AppendEncode(out, bytes.Join(b.Segments(nil), nil))
	return append(out, `"}}}`...)
}

// Members of a body that are headers at Anthropic.
const (
	bodyVersion = "anthropic_version"
	bodyBetas   = "anthropic_beta"
)

// maxBetas bounds the beta features of a request; Claude Code sends about ten.
const maxBetas = 64

// known returns the beta features that the platform knows, by its own names, and the others.
func (p *Platform) known(lists, extra []string) (known, others []string) {
	for _, list := range lists {
		for beta := range strings.SplitSeq(list, ",") {
			beta = strings.TrimSpace(beta)
			name := p.betas[beta]
			if slices.Contains(extra, beta) {
				name = beta
			}
			switch {
			case beta == "" || len(known)+len(others) == maxBetas || slices.Contains(known, name):
			case name == "":
				others = append(others, "anthropic-beta "+translate.Shorten(beta))
			default:
				known = append(known, name)
			}
		}
	}
	return known, others
}

func hasPrefix(s string, prefixes []string) bool {
	return slices.ContainsFunc(prefixes, func(prefix string) bool { return strings.HasPrefix(s, prefix) })
}

func drop(b *jsonscan.Body, name string) {
	if i, has := b.Find(name); has {
		b.Drop(i)
	}
}

func appendStrings(dst []byte, list []string) []byte {
	dst = append(dst, '[')
	for _, s := range list {
		dst = jsonscan.AppendString(translate.AppendComma(dst), s)
	}
	return append(dst, ']')
}
