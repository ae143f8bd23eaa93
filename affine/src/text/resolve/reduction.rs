use super::{Resolver, Symbol};
use crate::combiner::replace_leaves;
use crate::text::error::ParseErrorKind;
use crate::text::tree::{Name, Reduction, Tree};
use crate::{Combiner, Declared, Expr, Operand, Scalar, ScalarId, Type, Value};

impl<'a> Resolver<'a, '_> {
    /// The combiner that a declaration declares. Its operands are read as parameters, so that its
    /// body is an expression like any other.
    pub(super) fn declared_combiner(&mut self, tree: &Reduction<'a>) -> Option<Combiner> {
        let held = self.operand(tree.held, tree.ty);
        let incoming = self.operand(tree.incoming, tree.ty);
        let name = tree.name.text;
        if Combiner::is_built_in(name) {
            let kind = ParseErrorKind::BuiltInCombiner(name.to_owned());
            self.report(tree.name.span, kind);
        }
        let identity = tree
            .identity
            .as_ref()
            .map(|it| self.literal_of(it, tree.ty));
        let body = tree.body.as_ref().map(|it| self.typed(it, tree.ty));
        let identity = match identity {
            Some(identity) => Some(identity?),
            None => None,
        };
        let Some(body) = body else {
            let declared = Declared::by_host(name, tree.ty, None, identity);
            return Some(Combiner::new(declared));
        };
        let mut body = body?;
        replace_leaves(&mut body, &mut |leaf| match leaf {
            Expr::Param(param) if *param == held => Some(Expr::Operand(Operand::Held(0))),
            Expr::Param(param) if *param == incoming => Some(Expr::Operand(Operand::Incoming(0))),
            _ => None,
        });
        Some(Combiner::new(Declared::new(name, tree.ty, body, identity)))
    }

    fn literal_of(&mut self, tree: &Tree<'a>, ty: Type) -> Option<Value> {
        match self.typed(tree, ty)? {
            Expr::Constant(value) => Some(value),
            _ => {
                self.report(tree.span, ParseErrorKind::IdentityNotConstant);
                None
            }
        }
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
