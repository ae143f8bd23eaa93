use super::{Resolver, Symbol};
use crate::combiner::replace_leaves;
use crate::text::error::ParseErrorKind;
use crate::text::tree::{Name, Reduction};
use crate::{Combiner, Declared, Expr, Operand, Scalar, ScalarId, Type};

impl<'a> Resolver<'a, '_> {
    /// The combiner that a declaration declares. Its operands are read as parameters, so that its body is an expression like any other.
    pub(super) fn declared_combiner(&mut self, tree: &Reduction<'a>) -> Option<Combiner> {
        let held = self.operand(tree.held, tree.ty);
        let incoming = self.operand(tree.incoming, tree.ty);
        let body = self.typed(&tree.body, tree.ty);
        let identity = self.typed(&tree.identity, tree.ty);
        let name = tree.name.text;
        if Combiner::is_built_in(name) {
            let kind = ParseErrorKind::BuiltInCombiner(name.to_owned());
            self.report(tree.name.span, kind);
            return None;
        }
        let Expr::Constant(identity) = identity? else {
            self.report(tree.identity.span, ParseErrorKind::IdentityNotConstant);
            return None;
        };
        let mut body = body?;
        replace_leaves(&mut body, &mut |leaf| match leaf {
            Expr::Param(param) if *param == held => Some(Expr::Operand(Operand::Held(0))),
            Expr::Param(param) if *param == incoming => Some(Expr::Operand(Operand::Incoming(0))),
            _ => None,
        });
        Some(Combiner::new(Declared::new(name, tree.ty, body, identity)))
    }

    fn operand(&mut self, name: Name<'a>, ty: Type) -> ScalarId {
        let id = self.kernel.scalars.alloc(Scalar {
            name: name.text.to_owned(),
            ty,
            inferred: false,
            span: name.span,
        });
        self.declare(name, Symbol::Scalar(id));
        id
    }
}
