package gateway

import (
	"context"

	"go.uber.org/zap"

	"github.com/gatehouse-proxy/gatehouse/internal/apierror"
	"github.com/gatehouse-proxy/gatehouse/internal/jsonscan"
	"github.com/gatehouse-proxy/gatehouse/internal/openai"
	"github.com/gatehouse-proxy/gatehouse/internal/openai/request"
	"github.com/gatehouse-proxy/gatehouse/internal/openrouter"
)

// readRefs is what a body asks of the provider's account, so that it is walked once.
type readRefs struct {
	read  bool
	found request.Refs
	err   error // what is wrong with a reference; the tools are whole
}

func (c *Call) references(b *jsonscan.Body) (request.Refs, error) {
	r := &c.refs
	if !r.read {
		r.read = true
		r.found, r.err = request.References(b)
	}
	return r.found, r.err
}

// AdmitState refuses what the request asks of the provider's account and may
// not have: state of another tenant, or of unknown owner; tools that run
// there, unless the key may use them; answers that nobody could fetch.
func (c *Call) AdmitState(ctx context.Context, b *jsonscan.Body) error {
	refs, wrong := c.references(b)
	c.refs = readRefs{} // nobody reads them again
	if err := c.admitHosted(refs.Tools, b); err != nil {
		return err
	}
	if c.translated { // what names stored state is refused or left out by the translation
		return nil
	}
	if wrong != nil {
		return wrong
	}
	if refs.Background {
		return apierror.New(apierror.UnsupportedParameter, "background: true is not possible here: the answer could not be fetched").WithParam("background")
	}
	return c.admitIDs(ctx, refs.IDs)
}

// admitHosted refuses tools that run at the provider, unless the key may use them.
func (c *Call) admitHosted(tools request.ToolUse, b *jsonscan.Body) error {
	if c.provider.Dialect.OpenRouterFields() {
		openrouter.AddHostedTools(&tools, c.model.Name, b)
	}
	if tools.Hosted != "" && !c.Credential.HostedTools {
		return apierror.New(apierror.InsufficientScope, "the key %q may not use tools that run at the provider (%s): switch the tool off in the client, or set hosted_tools in the key's configuration", c.Credential.Name, tools.Hosted).WithParam(tools.HostedIn)
	}
	c.hostedTool, c.quota.builtIn = tools.Hosted, int64(tools.BuiltIn)
	return nil
}

// admitIDs refuses state that is not known to be of the caller's tenant.
func (c *Call) admitIDs(ctx context.Context, ids []request.Ref) error {
	for _, ref := range ids {
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
	for _, ref := range ids {
		owner, known, err := c.gateway.own.Owner(ctx, c.provider.Name, ref.ID)
		if err != nil {
			return apierror.New(apierror.LedgerUnavailable, "who owns %q cannot be looked up now", ref.Param).WithCause(err)
		}
		if !known || owner != c.Credential.Tenant {
			return unknownState(ref)
		}
	}
	return nil
}

// unknownState says the same of another tenant's state and of what does not exist.
func unknownState(ref request.Ref) error {
	code := apierror.InvalidValue
	if ref.Kind == openai.KindResponse {
		code = apierror.PreviousNotFound
	}
	return apierror.New(code, "no %s with id %q was found", ref.Kind, ref.ID).WithParam(ref.Param)
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
