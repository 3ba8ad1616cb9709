// Package messagesoncloud serves the Messages API by Claude on Google's Vertex AI (rawPredict) and
// on Amazon Bedrock (InvokeModel). Both take the body of a Messages request with a few differences:
//
//	                   Anthropic             Vertex AI             Bedrock
//	model              in the body           in the path           in the path
//	stream             in the body           in body and path      in the path
//	version            header                body                  body
//	beta features      header                header                body
//	events             server-sent events    the same              frames of AWS (package aws)
//
// Both know fewer beta features than Anthropic, and answer an unknown name with 400.
//
// Sources: Anthropic's SDK for Python 2.12 (anthropic.lib.vertex, anthropic.lib.bedrock), the pages
// of both vendors, and peers' lists of beta features (Envoy AI Gateway, LiteLLM). Nothing here was
// tried against an account.
package messagesoncloud

import "github.com/gatehouse-proxy/gatehouse/internal/anthropic"

// Platform is where Claude runs.
type Platform struct {
	name         string
	oldVersion   string            // of the API that Anthropic calls 2023-06-01
	modelInPath  bool              // of all operations
	streamInPath bool              // the body does not say it
	betasInBody  bool              // else in the header
	betas        map[string]string // what the platform calls the features that it knows
	frames       bool              // streams are frames of AWS
}

// The platforms. Later versions of the API have the same name everywhere.
var (
	Vertex = &Platform{
		name: "Vertex AI", oldVersion: "vertex-2023-10-16", modelInPath: true,
		betas: named(append(common, "compact-2026-09-04", "interleaved-thinking-2025-05-14", "per-turn-control-2026-07-01",
			"web-search-2025-03-05")),
	}
	// VertexCount counts tokens: its body names the model. It knows hardly any beta feature.
	VertexCount = &Platform{name: Vertex.name, oldVersion: Vertex.oldVersion}
	Bedrock     = &Platform{
		name: "Amazon Bedrock", oldVersion: "bedrock-2023-05-31", modelInPath: true, streamInPath: true, betasInBody: true, frames: true,
		betas: named(append(common, "computer-use-2024-10-22", "effort-2025-11-24", "fine-grained-tool-streaming-2025-05-14",
			"interleaved-thinking-2025-05-14", "mid-conversation-output-config-2026-07-01", "mid-conversation-tool-changes-2026-07-01",
			"output-128k-2025-02-19", "token-efficient-tools-2025-02-19")),
	}
)

// common are the beta features of both platforms, on 2026-11-23.
var common = []string{
	"compact-2026-01-12", "computer-use-2025-01-24", "computer-use-2025-11-24", "context-1m-2025-08-07", "context-management-2025-06-27",
	"dangerous-tool-use-2026-09-03", "thinking-binding-controls-2026-08-01", "thinking-display-updates-2026-08-18", toolSearch,
}

const toolSearch = "tool-search-tool-2025-10-19"

// named returns features by their names at Anthropic.
func named(features []string) map[string]string {
	known := map[string]string{"advanced-tool-use-2025-11-20": toolSearch}
	for _, f := range features {
		known[f] = f
	}
	return known
}

// version is what the platform calls a version of the API.
func (p *Platform) version(header string) string {
	if header == anthropic.Version2023 || header == "" { // of a request that was translated
		return p.oldVersion
	}
	return header
}
