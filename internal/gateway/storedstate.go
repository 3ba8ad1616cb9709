package gateway

import (
	"context"
	"slices"
	"strings"

	"go.uber.org/zap"

	"github.com/gatehouse-proxy/gatehouse/internal/fault"
	"github.com/gatehouse-proxy/gatehouse/internal/jsonscan"
	"github.com/gatehouse-proxy/gatehouse/internal/openai"
)

// AdmitState refuses what the request asks of the provider's account and may
// not have: state of another tenant, or of unknown owner; tools that run
// there, unless the key may use them; answers that nobody could fetch.
func (c *Call) AdmitState(ctx context.Context, body []byte, members []jsonscan.Member) error {
	refs, err := openai.References(body, members)
	if err != nil {
		return err
	}
	if refs.Background {
		return fault.New(fault.UnsupportedParameter, "background: true is not possible here: the answer could not be fetched").WithParam("background")
	}
	if c.provider.Dialect.OpenRouterFields() {
		refs.HostedTools = append(refs.HostedTools, c.openRouterTools(body, members)...)
	}
	if len(refs.HostedTools) > 0 && !c.Credential.HostedTools {
		return fault.New(fault.InsufficientScope, "the key %q may not use tools that run at the provider (%s)", c.Credential.Name, refs.HostedTools[0]).WithParam("tools")
	}
	if len(refs.HostedTools) > 0 {
		c.hostedTool = refs.HostedTools[0]
	}
	for _, ref := range refs.IDs {
		switch ref.Kind {
		case openai.KindResponse, openai.KindConversation, openai.KindItem:
			c.keptState = true
		default:
			c.hostedTool = ref.Param
		}
	}
	if c.provider.AccountOf == c.Credential.Tenant {
		return nil
	}
	for _, ref := range refs.IDs {
		owner, known, err := c.gateway.own.Owner(ctx, c.provider.Name, ref.ID)
		if err != nil {
			return fault.New(fault.LedgerUnavailable, "who owns %q cannot be looked up now", ref.Param).WithCause(err)
		}
		if !known || owner != c.Credential.Tenant {
			return unknownState(ref)
		}
	}
	return nil
}

// openRouterTools are the ways in which a chat request makes OpenRouter itself
// run tools: its plugins (web search, files), and the variant of a model's name
// that searches the web.
func (c *Call) openRouterTools(body []byte, members []jsonscan.Member) (tools []string) {
	if i, ok := jsonscan.Find(body, members, "plugins"); ok && members[i].Kind != 'n' {
		tools = append(tools, "plugins")
	}
	_, variants, _ := strings.Cut(strings.ToLower(c.model.Name), ":")
	if slices.Contains(strings.Split(variants, ":"), "online") {
		tools = append(tools, ":online")
	}
	if strings.Contains(c.model.Name, "@preset/") { // replaces prompt and model by what the account says
		tools = append(tools, "@preset")
	}
	return tools
}

// unknownState says the same of another tenant's state and of what does not exist.
func unknownState(ref openai.Ref) error {
	code := fault.InvalidValue
	if ref.Kind == openai.KindResponse {
		code = fault.PreviousNotFound
	}
	return fault.New(code, "no %s with id %q was found", ref.Kind, ref.ID).WithParam(ref.Param)
}

// Own records that the tenant owns an id that the provider's account now
// keeps. It is known when Own returns, hence before the id reaches the client;
// where it cannot be recorded, the id is of no use to anybody, which is safe.
func (c *Call) Own(kind, id string) {
	if err := c.gateway.own.Record(kind, c.provider.Name, id, c.Credential.Tenant); err != nil {
		c.gateway.logger.Warn("the owner of stored state was not recorded",
			zap.String("request_id", c.Record.RequestID), zap.String("kind", kind), zap.Error(err))
	}
}
