//go:build !anthropic1

package anthropic_test

import (
	sdk "github.com/anthropics/anthropic-sdk-go/v2"
	"github.com/anthropics/anthropic-sdk-go/v2/option"
	"github.com/anthropics/anthropic-sdk-go/v2/packages/param"
)

// version is what this major sends.
const version = "2026-10-21"

type (
	Client       = sdk.Client
	Error        = sdk.Error
	Message      = sdk.Message
	MessageParam = sdk.MessageParam
	Params       = sdk.MessageNewParams
	Block        = sdk.ContentBlockParamUnion
	Tool         = sdk.ToolUnionParam
	Schema       = sdk.ToolInputSchemaParam
	System       = sdk.TextBlockParam
	Option       = option.RequestOption
	ListParams   = sdk.ModelListParams
	CountParams  = sdk.MessageCountTokensParams
)

var (
	newClient   = sdk.NewClient
	user        = sdk.NewUserMessage
	assistant   = sdk.NewAssistantMessage
	text        = sdk.NewTextBlock
	image       = sdk.NewImageBlockBase64
	result      = sdk.NewToolResultBlock
	thinks      = sdk.NewThinkingBlock
	tool        = sdk.ToolUnionParamOfTool
	thinking    = sdk.ThinkingConfigParamOfEnabled
	withBase    = option.WithBaseURL
	withKey     = option.WithAPIKey
	withRetries = option.WithMaxRetries
	number      = param.NewOpt[int64]
)
