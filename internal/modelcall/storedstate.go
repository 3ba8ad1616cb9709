package modelcall

import (
	"context"
	"slices"

	"github.com/gatehouse-proxy/gatehouse/internal/modelcall/wire"
	"github.com/gatehouse-proxy/gatehouse/internal/policy"
	"github.com/gatehouse-proxy/gatehouse/internal/request"

	"go.uber.org/zap"

	"github.com/gatehouse-proxy/gatehouse/internal/apierror"
	"github.com/gatehouse-proxy/gatehouse/internal/jsonscan"
	"github.com/gatehouse-proxy/gatehouse/internal/openai"
	"github.com/gatehouse-proxy/gatehouse/internal/openai/params"
	"github.com/gatehouse-proxy/gatehouse/internal/openrouter"
)

// storedState checks what a request asks of the provider's account, which many tenants share: tools
// that run there and state that is kept there.
type storedState struct {
	deps   *Deps
	caller *request.Caller
	op     *wire.Operation

	read bool // the body is walked once
	refs params.Refs
	err  error // a reference is wrong; the tools are complete all the same
}

// accountUse is what a request uses of the provider's account.
type accountUse struct {
	hostedTool  string // a tool that runs at the provider; "" for none
	builtIn     int64  // tools that the provider describes to the model
	storedState bool   // the request refers to state whose size is not known
}

// tools returns the tools that the body declares.
func (s *storedState) tools(b *jsonscan.Body) params.ToolUse {
	if !s.read {
		s.read = true
		s.refs, s.err = s.op.References(b)
	}
	return s.refs.Tools
}

// forget makes the body be walked again: it is another one, or nobody asks any more. What the answer is
// compared with stays.
func (s *storedState) forget() { s.read, s.refs, s.err = false, params.Refs{Given: s.refs.Given}, nil }

// check refuses state of another tenant or of an unknown owner, tools that run at the provider unless
// the key may use them, and answers that nobody could fetch.
func (s *storedState) check(ctx context.Context, b *jsonscan.Body, t *target) (use accountUse, err error) {
	tools := s.tools(b)
	if t.dropsTools() { // so nothing runs there
		tools.Hosted, tools.HostedIn, tools.BuiltIn = "", "", 0
	}
	if t.provider.Dialect.OpenRouterFields {
		openrouter.AddHostedTools(&tools, t.model.Name, b)
	}
	if tools.Hosted != "" && !s.caller.HostedTools {
		e := apierror.New(apierror.InsufficientScope, "the key %q may not use tools that run at the provider (%s): switch the tool off in the client, or set hosted_tools in the key's configuration", s.caller.Name, tools.Hosted).WithParam(tools.HostedIn)
		e.RefusedBy = policy.RefusedBy(policy.KeySubject(s.caller.Name), "hosted_tools", "off")
		return use, e
	}
	use.hostedTool, use.builtIn = tools.Hosted, int64(tools.BuiltIn)
	if t.route.Stateless {
		return use, nil
	}
	if s.err != nil {
		return use, s.err
	}
	if s.refs.Background {
		return use, apierror.New(apierror.UnsupportedParameter, "background: true is not possible here: the answer could not be fetched").WithParam("background")
	}
	for _, ref := range s.refs.IDs {
		switch ref.Kind {
		case openai.KindResponse, openai.KindConversation, openai.KindItem:
			use.storedState = true
		default:
			use.hostedTool = ref.Param
		}
	}
	if t.provider.AccountOf == s.caller.Tenant {
		return use, nil
	}
	return use, s.checkOwners(ctx, t.accountName())
}

// preferKeepers leaves the targets whose account is known to keep what the request refers to. If
// none is, it leaves all: in its own account a tenant may have state that the gateway has not seen.
func (s *storedState) preferKeepers(ctx context.Context, to *routed) {
	if len(to.targets) < 2 || len(s.refs.IDs) == 0 {
		return
	}
	known := *to
	known.targets, known.skipped = slices.Clone(to.targets), slices.Clone(to.skipped)
	if known.keep(func(t *target) error { return s.checkOwners(ctx, t.accountName()) }) == nil {
		*to = known
	}
}

// checkOwners refuses state that is not known to be the tenant's.
func (s *storedState) checkOwners(ctx context.Context, account string) error {
	for _, ref := range s.refs.IDs {
		owner, known, err := s.deps.Owners.Owner(ctx, string(ref.Kind), account, ref.ID)
		if err != nil {
			return apierror.New(apierror.LedgerUnavailable, "who owns %q cannot be looked up now", ref.Param).WithCause(err)
		}
		if !known || owner != s.caller.Tenant {
			return unknownState(ref)
		}
	}
	return nil
}

// unknownState is the refusal of another tenant's state and of state that does not exist: the same
// for both.
func unknownState(ref params.Ref) error {
	code := apierror.InvalidValue
	if ref.Kind == openai.KindResponse {
		code = apierror.PreviousNotFound
	}
	return apierror.New(code, "no %s with id %q was found", ref.Kind, ref.ID).WithParam(ref.Param)
}

// ownership records who owns the state that a provider's account keeps of an answer.
type ownership struct {
	deps                       *Deps
	account, tenant, requestID string
	given                      params.GivenIDs // which the caller's items have
}

// forget notes that what had the id is gone.
func (o ownership) forget(kind openai.Kind, id string) {
	if err := o.deps.Owners.Forget(string(kind), o.account, id, o.tenant); err != nil {
		o.deps.Logger.Warn("the owner of stored state was not forgotten",
			zap.String("request_id", o.requestID), zap.String("kind", string(kind)), zap.Error(err))
	}
}

// record notes that the tenant owns an id which the provider has made. It returns once that is known, so
// before the client gets the id. If it cannot be recorded, nobody can use the id, which is safe. An id
// that the caller's items have is not new: the provider repeats it.
func (o ownership) record(kind openai.Kind, id string) {
	if !kind.Fits(id) || o.given.Has(id) {
		return
	}
	if err := o.deps.Owners.Record(string(kind), o.account, id, o.tenant); err != nil {
		o.deps.Logger.Warn("the owner of stored state was not recorded",
			zap.String("request_id", o.requestID), zap.String("kind", string(kind)), zap.Error(err))
	}
}
