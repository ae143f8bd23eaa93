//! The syntax tree as an indented list, one line for each node.

use crate::ast::{
    Declaration, Declarator, Expr, ExprKind, File, Function, Name, Parameter, Pointer, Reduction,
    Specifier, Start, Statement, StatementKind, TypeName,
};
use std::fmt::{self, Formatter, Result};

impl fmt::Display for File {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        for declaration in &self.declarations {
            print_declaration(f, 0, declaration)?;
        }
        for assertion in &self.assertions {
            line(f, 0, format_args!("assertion"))?;
            print_expr(f, 1, &assertion.condition)?;
        }
        for Reduction {
            combiner, identity, ..
        } in &self.reductions
        {
            let (name, ty) = (&combiner.name.text, &combiner.returns);
            line(f, 0, format_args!("reduction {name} : {ty}"))?;
            print_statements(f, 1, &combiner.body)?;
            print_statements(f, 1, &identity.body)?;
        }
        self.functions
            .iter()
            .try_for_each(|function| print_function(f, function))
    }
}

impl fmt::Display for TypeName {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        for (index, word) in self.words.iter().enumerate() {
            let space = if index == 0 { "" } else { " " };
            write!(f, "{space}{word}")?;
        }
        print_pointers(f, &self.pointers)?;
        self.lengths.iter().try_for_each(|_| f.write_str("[]"))
    }
}

impl fmt::Display for Specifier {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        match self {
            Self::Type(word) => word.fmt(f),
            Self::Named(name) => f.write_str(&name.text),
            Self::Struct(it) => print_tag(f, "struct", it.tag.as_ref()),
            Self::Enum(it) => print_tag(f, "enum", it.tag.as_ref()),
            Self::Typedef => f.write_str("typedef"),
            Self::Register => f.write_str("register"),
            Self::Extern => f.write_str("extern"),
            Self::Const => f.write_str("const"),
            Self::Restrict => f.write_str("restrict"),
            Self::Static => f.write_str("static"),
            Self::Inline => f.write_str("inline"),
        }
    }
}

fn print_tag(f: &mut Formatter<'_>, word: &str, tag: Option<&Name>) -> Result {
    match tag {
        Some(tag) => write!(f, "{word} {}", tag.text),
        None => f.write_str(word),
    }
}

fn print_pointers(f: &mut Formatter<'_>, pointers: &[Pointer]) -> Result {
    pointers
        .iter()
        .try_for_each(|it| f.write_str(if it.is_const { " * const" } else { " *" }))
}

fn line(f: &mut Formatter<'_>, depth: usize, text: fmt::Arguments<'_>) -> Result {
    writeln!(f, "{:width$}{text}", "", width = 2 * depth)
}

fn print_function(f: &mut Formatter<'_>, function: &Function) -> Result {
    let Function { returns, name, .. } = function;
    line(f, 0, format_args!("function {} : {returns}", name.text))?;
    for parameter in &function.parameters {
        print_parameter(f, parameter)?;
    }
    print_statements(f, 1, &function.body)
}

fn print_parameter(f: &mut Formatter<'_>, parameter: &Parameter) -> Result {
    match &parameter.declarator {
        Some(declarator) => print_declarator(f, 1, "parameter", &parameter.ty, declarator),
        None => line(f, 1, format_args!("parameter : {}", parameter.ty)),
    }
}

fn print_declarator(
    f: &mut Formatter<'_>,
    depth: usize,
    what: &str,
    ty: &TypeName,
    declarator: &Declarator,
) -> Result {
    write!(f, "{:width$}", "", width = 2 * depth)?;
    write!(f, "{what} {} : {ty}", declarator.name.text)?;
    print_pointers(f, &declarator.pointers)?;
    writeln!(f)?;
    for length in &declarator.lengths {
        line(f, depth + 1, format_args!("length"))?;
        print_optional(f, depth + 2, length.length.as_ref())?;
    }
    print_optional(f, depth + 1, declarator.initial.as_ref())
}

fn print_declaration(f: &mut Formatter<'_>, depth: usize, it: &Declaration) -> Result {
    for word in &it.ty.words {
        print_definition(f, depth, word)?;
    }
    it.declarators
        .iter()
        .try_for_each(|declarator| print_declarator(f, depth, "declare", &it.ty, declarator))
}

/// What a declaration defines besides what it declares.
fn print_definition(f: &mut Formatter<'_>, depth: usize, word: &Specifier) -> Result {
    match word {
        Specifier::Struct(it) => {
            let Some(members) = &it.members else {
                return Ok(());
            };
            line(f, depth, format_args!("define {word}"))?;
            members
                .iter()
                .try_for_each(|member| print_declaration(f, depth + 1, member))
        }
        Specifier::Enum(it) => {
            let Some(enumerators) = &it.enumerators else {
                return Ok(());
            };
            line(f, depth, format_args!("define {word}"))?;
            for enumerator in enumerators {
                line(
                    f,
                    depth + 1,
                    format_args!("constant {}", enumerator.name.text),
                )?;
                print_optional(f, depth + 2, enumerator.value.as_ref())?;
            }
            Ok(())
        }
        _ => Ok(()),
    }
}

fn print_statements(f: &mut Formatter<'_>, depth: usize, statements: &[Statement]) -> Result {
    statements
        .iter()
        .try_for_each(|statement| print_statement(f, depth, statement))
}

fn print_statement(f: &mut Formatter<'_>, depth: usize, statement: &Statement) -> Result {
    for pragma in &statement.pragmas {
        line(f, depth, format_args!("pragma {}", pragma.text))?;
    }
    for label in &statement.labels {
        line(f, depth, format_args!("label {}", label.text))?;
    }
    for case in &statement.cases {
        let title = if case.value.is_some() {
            "case"
        } else {
            "default"
        };
        line(f, depth, format_args!("{title}"))?;
        print_optional(f, depth + 1, case.value.as_ref())?;
    }
    match &statement.kind {
        StatementKind::Declaration(declaration) => print_declaration(f, depth, declaration),
        StatementKind::Expression(expr) => print_expr(f, depth, expr),
        kind => {
            line(f, depth, format_args!("{}", title(kind)))?;
            print_parts(f, depth + 1, kind)
        }
    }
}

fn title(kind: &StatementKind) -> &'static str {
    match kind {
        StatementKind::Empty => "empty",
        StatementKind::Block(_) => "block",
        StatementKind::Declaration(_) => "declaration",
        StatementKind::Assertion(_) => "assertion",
        StatementKind::Expression(_) => "expression",
        StatementKind::If { .. } => "if",
        StatementKind::For(_) => "for",
        StatementKind::While { .. } => "while",
        StatementKind::DoWhile { .. } => "do",
        StatementKind::Switch { .. } => "switch",
        StatementKind::Goto(_) => "goto",
        StatementKind::Break => "break",
        StatementKind::Continue => "continue",
        StatementKind::Return(_) => "return",
        StatementKind::Invalid => "invalid",
    }
}

fn print_parts(f: &mut Formatter<'_>, depth: usize, kind: &StatementKind) -> Result {
    match kind {
        StatementKind::Block(statements) => print_statements(f, depth, statements),
        StatementKind::If {
            condition,
            then,
            otherwise,
        } => {
            print_expr(f, depth, condition)?;
            print_statement(f, depth, then)?;
            otherwise
                .iter()
                .try_for_each(|otherwise| print_statement(f, depth, otherwise))
        }
        StatementKind::For(it) => {
            match &it.start {
                Start::Nothing => line(f, depth, format_args!("nothing"))?,
                Start::Declaration(declaration) => print_declaration(f, depth, declaration)?,
                Start::Expression(expr) => print_expr(f, depth, expr)?,
            }
            print_optional(f, depth, it.condition.as_ref())?;
            print_optional(f, depth, it.step.as_ref())?;
            print_statement(f, depth, &it.body)
        }
        StatementKind::While {
            condition: head,
            body,
        }
        | StatementKind::Switch { value: head, body } => {
            print_expr(f, depth, head)?;
            print_statement(f, depth, body)
        }
        StatementKind::DoWhile { body, condition } => {
            print_statement(f, depth, body)?;
            print_expr(f, depth, condition)
        }
        StatementKind::Return(value) => print_optional(f, depth, value.as_ref()),
        StatementKind::Assertion(it) => print_expr(f, depth, &it.condition),
        StatementKind::Goto(label) => line(f, depth, format_args!("label {}", label.text)),
        StatementKind::Empty
        | StatementKind::Declaration(_)
        | StatementKind::Expression(_)
        | StatementKind::Break
        | StatementKind::Continue
        | StatementKind::Invalid => Ok(()),
    }
}

fn print_optional(f: &mut Formatter<'_>, depth: usize, expr: Option<&Expr>) -> Result {
    expr.map_or(Ok(()), |expr| print_expr(f, depth, expr))
}

fn print_expr(f: &mut Formatter<'_>, depth: usize, expr: &Expr) -> Result {
    line(f, depth, format_args!("{}", ExprTitle(&expr.kind)))?;
    expr.kind
        .operands()
        .into_iter()
        .try_for_each(|operand| print_expr(f, depth + 1, operand))
}

struct ExprTitle<'a>(&'a ExprKind);

impl fmt::Display for ExprTitle<'_> {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        match self.0 {
            ExprKind::Constant(value) => match (value.as_integer(), value.as_float()) {
                (Some(integer), _) => write!(f, "constant {integer} : {}", value.ty()),
                (None, float) => {
                    write!(
                        f,
                        "constant {:?} : {}",
                        float.unwrap_or_default(),
                        value.ty()
                    )
                }
            },
            ExprKind::Name(name) => write!(f, "name {}", name.text),
            ExprKind::Index(..) => f.write_str("element"),
            ExprKind::Call(function, _) => write!(f, "call {}", function.text),
            ExprKind::Unary(op, _) => write!(f, "unary {}", op.symbol()),
            ExprKind::Binary(op, ..) => write!(f, "binary {}", op.symbol()),
            ExprKind::Conditional(..) => f.write_str("conditional"),
            ExprKind::Cast(ty, _) => write!(f, "cast {ty}"),
            ExprKind::Compound(ty, _) => write!(f, "compound {ty}"),
            ExprKind::Assign(None, ..) => f.write_str("assign"),
            ExprKind::Assign(Some(op), ..) => write!(f, "assign {}=", op.symbol()),
            ExprKind::Step(step, _) => {
                let side = if step.prefix { "prefix" } else { "postfix" };
                write!(f, "{side} {}", if step.up { "++" } else { "--" })
            }
            ExprKind::Comma(..) => f.write_str("comma"),
            ExprKind::Member(_, member, false) => write!(f, "member {}", member.text),
            ExprKind::Member(_, member, true) => write!(f, "member -> {}", member.text),
            ExprKind::SizeOf(_) => f.write_str("sizeof"),
            ExprKind::SizeOfType(ty) => write!(f, "sizeof {ty}"),
            ExprKind::Braced(_) => f.write_str("braced"),
            ExprKind::Text => f.write_str("string"),
            ExprKind::Invalid => f.write_str("invalid"),
        }
    }
}
